// The C interface: checks arguments, queues calls on a model, turns exceptions into statuses.
#include "sayso_cpu.h"

#include <chrono>
#include <cstdio>
#include <cstring>

#include "decoder.h"
#include "encoder.h"

using namespace sayso;

struct sayso_model : Model {
    using Model::Model;
};
struct sayso_stream {
    sayso_model& model;
    Encoder encoder;
    int encoded = 0;
};
struct sayso_audio {
    std::unique_ptr<Audio> audio;
    int n_state;
};
struct sayso_decoder : Decoder {
    using Decoder::Decoder;
};

namespace {

template <typename F>
int guarded(Model& model, const F& f) {
    try {
        std::lock_guard<std::mutex> lock(model.mutex);
        return f();
    } catch (const std::bad_alloc&) {
        return SAYSO_NO_MEMORY;
    }
}

int status(bool ok) { return ok ? SAYSO_OK : SAYSO_BAD_ARGUMENT; }

bool plausible(const sayso_dims& d) {
    const auto within = [](int x, int low, int high) { return x >= low && x <= high; };
    return within(d.n_mels, 1, 256) && within(d.n_audio_layer, 1, 64) && within(d.n_text_layer, 1, 64) &&
           within(d.n_audio_head, 1, 64) && within(d.n_text_head, 1, 64) && d.n_audio_state == d.n_audio_head * HEAD &&
           d.n_text_state == d.n_text_head * HEAD && d.n_audio_state == d.n_text_state &&
           within(d.n_vocab, 1, 1 << 20) && within(d.n_text_ctx, 1, 448);
}

// The three arrays of a silence, in the order of the image.
template <typename F>
void each_part(const Silence& s, const F& f) {
    f(s.self.blocks.data(), s.self.blocks.size() * sizeof(KeyBlock));
    f(s.cross.blocks.data(), s.cross.blocks.size() * sizeof(KeyBlock));
    f(s.states.data(), s.states.size() * sizeof(float));
}

Silence empty_silence(const Dims& d) {
    Silence s;
    s.self = HeadBlocks(d.n_audio_layer, d.n_audio_head, N_KEY_BLOCKS);
    s.cross = HeadBlocks(d.n_text_layer, d.n_text_head, N_KEY_BLOCKS);
    s.states = Buffer<float>(size_t(N_POSITIONS) * d.n_audio_state);
    return s;
}

std::shared_ptr<const Silence> find_silence(const Model& model, float level) {
    const auto found = model.silences.find(level);
    return found == model.silences.end() ? nullptr : found->second;
}

// Keeps a few: a voice and a microphone need one or two.
void keep_silence(Model& model, float level, std::shared_ptr<const Silence> silence) {
    constexpr size_t MAX_SILENCES = 3;
    if (model.silences.size() >= MAX_SILENCES) model.silences.erase(model.silences.begin());
    model.silences[level] = std::move(silence);
}

}  // namespace

int sayso_abi(void) { return SAYSO_ABI; }
const char* sayso_instruction_sets(void) { return runnable_kernels(); }

sayso_model* sayso_model_new(const sayso_dims* dims, int n_threads, const char* name) {
    const Kernels* kernels = name && *name ? find_kernels(name) : best_kernels();
    if (!kernels || !plausible(*dims) || n_threads < 1 || n_threads > 256) return nullptr;
    try {
        return new sayso_model(*dims, n_threads, *kernels);
    } catch (const std::exception&) {
        return nullptr;
    }
}
void sayso_model_free(sayso_model* m) { delete m; }
const char* sayso_model_instruction_set(const sayso_model* m) { return m->kernels.name; }
int sayso_weight_offset(const sayso_model* m) { return m->kernels.weight_offset; }

int sayso_model_vector(sayso_model* m, const char* name, const float* data, size_t n) {
    return guarded(*m, [&] { return status(m->set_vector(name, data, n)); });
}
int sayso_model_matrix(sayso_model* m, const char* name, int type, const void* data, int rows, int cols, int first_row,
                       int total_rows) {
    if (type < SAYSO_Q8_0 || type > SAYSO_F32) return SAYSO_BAD_ARGUMENT;
    return guarded(*m, [&] {
        return status(m->set_matrix(name, sayso_type(type), data, rows, cols, first_row, total_rows));
    });
}
void sayso_model_missing(const sayso_model* m, char* name, size_t size) {
    std::snprintf(name, size, "%s", m->missing().c_str());
}

int sayso_silence_has(sayso_model* m, float level) {
    return guarded(*m, [&] { return int(find_silence(*m, level) != nullptr); });
}
int sayso_silence_make(sayso_model* m, float level, sayso_cancelled cancelled) {
    return guarded(*m, [&]() -> int {
        if (find_silence(*m, level)) return SAYSO_OK;
        Buffer<float> mel(size_t(N_FRAMES) * m->dims.n_mels);
        for (size_t i = 0; i < mel.size(); i++) mel[i] = level;
        Encoder encoder(*m, true);
        if (!encoder.encode({mel.data(), 0, N_FRAMES}, 0, N_POSITIONS, nullptr, cancelled)) return SAYSO_CANCELLED;
        keep_silence(*m, level, encoder.into_silence());
        return SAYSO_OK;
    });
}
size_t sayso_silence_size(const sayso_model* m) {
    const Dims& d = m->dims;
    const size_t blocks = size_t(N_KEY_BLOCKS) * (size_t(d.n_audio_layer) * d.n_audio_head + size_t(d.n_text_layer) * d.n_text_head);
    return blocks * sizeof(KeyBlock) + size_t(N_POSITIONS) * d.n_audio_state * sizeof(float);
}
int sayso_silence_export(sayso_model* m, float level, void* image) {
    return guarded(*m, [&]() -> int {
        const auto silence = find_silence(*m, level);
        if (!silence) return SAYSO_BAD_ARGUMENT;
        uint8_t* out = static_cast<uint8_t*>(image);
        each_part(*silence, [&](const void* part, size_t size) {
            std::memcpy(out, part, size);
            out += size;
        });
        return SAYSO_OK;
    });
}
int sayso_silence_import(sayso_model* m, float level, const void* image) {
    return guarded(*m, [&]() -> int {
        auto silence = std::make_shared<Silence>(empty_silence(m->dims));
        const uint8_t* in = static_cast<const uint8_t*>(image);
        each_part(*silence, [&](const void* part, size_t size) {
            std::memcpy(const_cast<void*>(part), in, size);
            in += size;
        });
        keep_silence(*m, level, silence);
        return SAYSO_OK;
    });
}

sayso_stream* sayso_stream_new(sayso_model* m, int keep_layers) {
    try {
        return new sayso_stream{*m, Encoder(*m, keep_layers != 0)};
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}
void sayso_stream_free(sayso_stream* s) { delete s; }

int sayso_stream_encode(sayso_stream* s, const float* mel, int first_frame, int n_frames, int first, int end,
                        float level, sayso_cancelled cancelled) {
    if (first < 0 || first >= end || end > N_POSITIONS || first > s->encoded || n_frames < 0) return SAYSO_BAD_ARGUMENT;
    return guarded(s->model, [&]() -> int {
        const auto silence = end < N_POSITIONS ? find_silence(s->model, level) : nullptr;
        if (end < N_POSITIONS && !silence) return SAYSO_BAD_ARGUMENT;
        s->encoded = first;
        if (!s->encoder.encode({mel, first_frame, n_frames}, first, end, silence, cancelled)) return SAYSO_CANCELLED;
        s->encoded = end;
        return SAYSO_OK;
    });
}
sayso_audio* sayso_stream_audio(sayso_stream* s) {
    sayso_audio* out = nullptr;
    guarded(s->model, [&] {
        out = new sayso_audio{s->encoder.take_audio(), s->model.dims.n_audio_state};
        return SAYSO_OK;
    });
    return out;
}
void sayso_audio_free(sayso_audio* a) { delete a; }
void sayso_audio_states(const sayso_audio* a, float* states) {
    const Audio& audio = *a->audio;
    const size_t own = size_t(audio.n_encoded) * a->n_state, all = size_t(N_POSITIONS) * a->n_state;
    std::memcpy(states, audio.states.data(), own * sizeof(float));
    if (audio.silence) std::memcpy(states + own, audio.silence->states.data() + own, (all - own) * sizeof(float));
}

sayso_decoder* sayso_decoder_new(sayso_model* m, const sayso_audio* a) {
    try {
        return new sayso_decoder(*m, *a->audio);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}
void sayso_decoder_free(sayso_decoder* d) { delete d; }
int sayso_decoder_length(const sayso_decoder* d) { return d->length(); }

int sayso_decoder_append(sayso_decoder* d, const int32_t* tokens, int n) {
    return guarded(d->model(), [&] { return status(d->prompt(tokens, n)); });
}
int sayso_decoder_logits(sayso_decoder* d, float* logits) {
    return guarded(d->model(), [&]() -> int {
        if (!d->pending()) return SAYSO_BAD_ARGUMENT;
        std::memcpy(logits, d->pending(), size_t(d->model().dims.n_vocab) * sizeof(float));
        return SAYSO_OK;
    });
}
int sayso_decoder_step(sayso_decoder* d, int32_t token, const sayso_rules* rules, const int32_t* sampled, int n_sampled,
                       float temperature, uint64_t random, sayso_choice* choice) {
    return guarded(d->model(), [&] {
        if (token >= 0 && !d->append(&token, 1, Decoder::Logits::last)) return int(SAYSO_BAD_ARGUMENT);
        return status(d->choose(*rules, sampled, n_sampled, temperature, random, *choice));
    });
}
int sayso_decoder_verify(sayso_decoder* d, const int32_t* draft, int n, const sayso_rules* rules, const int32_t* sampled,
                         int n_sampled, sayso_choice* choices, int* n_choices) {
    if (n < 0 || n > MAX_BLOCK) return SAYSO_BAD_ARGUMENT;
    return guarded(d->model(), [&] { return status(d->verify(draft, n, *rules, sampled, n_sampled, choices, *n_choices)); });
}
int sayso_decoder_align(sayso_decoder* d, const int32_t* tokens, int n, const int32_t* heads, int n_heads, int n_words,
                        float* weights, float* logprobs) {
    return guarded(d->model(), [&] { return status(d->align(tokens, n, {heads, n_heads, n, weights}, n_words, logprobs)); });
}
int sayso_decoder_rewind(sayso_decoder* d, int length) {
    return guarded(d->model(), [&] { return status(d->rewind(length)); });
}
