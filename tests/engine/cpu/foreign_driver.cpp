// Runs the native CPU library on another processor, under an emulator: reads a model, a mel and a prompt from a file
// that test_foreign.py writes, and writes states and logits. See there for the format.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "sayso_cpu.h"

namespace {

FILE* in;

void read(void* to, size_t size) {
    if (std::fread(to, 1, size, in) != size) std::exit(2);
}
int32_t number() {
    int32_t x;
    read(&x, 4);
    return x;
}
std::vector<char> bytes() {
    std::vector<char> data(static_cast<size_t>(number()));
    read(data.data(), data.size());
    return data;
}
std::string text() {
    const std::vector<char> data = bytes();
    return {data.begin(), data.end()};
}
void check(int status) {
    if (status != SAYSO_OK) std::exit(3);
}

}  // namespace

int main(int, char** argv) {
    in = std::fopen(argv[1], "rb");
    FILE* out = std::fopen(argv[2], "wb");
    std::printf("%s\n", sayso_instruction_sets());
    sayso_dims dims;
    read(&dims, sizeof dims);
    sayso_model* model = sayso_model_new(&dims, 2, argv[3]);
    if (!model) return 4;
    for (int n = number(); n > 0; n--) {
        const std::string name = text();
        const int kind = number(), rows = number(), cols = number(), first = number(), total = number();
        const std::vector<char> data = bytes();
        if (kind < 0)
            check(sayso_model_vector(model, name.c_str(), reinterpret_cast<const float*>(data.data()), data.size() / 4));
        else
            check(sayso_model_matrix(model, name.c_str(), kind, data.data(), rows, cols, first, total));
    }
    const int end = number();
    const std::vector<char> mel = bytes(), prompt = bytes();
    check(sayso_silence_make(model, -0.5f, nullptr));
    sayso_stream* stream = sayso_stream_new(model, 0);
    check(sayso_stream_encode(stream, reinterpret_cast<const float*>(mel.data()), 0, 3000, 0, end, -0.5f, nullptr));
    sayso_audio* audio = sayso_stream_audio(stream);
    sayso_decoder* decoder = sayso_decoder_new(model, audio);
    check(sayso_decoder_append(decoder, reinterpret_cast<const int32_t*>(prompt.data()), int(prompt.size() / 4)));
    std::vector<float> states(size_t(1500) * dims.n_audio_state), logits(static_cast<size_t>(dims.n_vocab));
    sayso_audio_states(audio, states.data());
    check(sayso_decoder_logits(decoder, logits.data()));
    std::fwrite(states.data(), 4, states.size(), out);
    std::fwrite(logits.data(), 4, logits.size(), out);
    std::fclose(out);
    sayso_decoder_free(decoder);
    sayso_audio_free(audio);
    sayso_stream_free(stream);
    sayso_model_free(model);
    return 0;
}
