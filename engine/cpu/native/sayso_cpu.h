/* C interface of Sayso's CPU runtime, called through ctypes (engine/cpu/native.py).
 *
 * Handles are made and freed in pairs. A model may be used from any thread, one call at a time (calls queue); several
 * models run side by side. Functions that return int give SAYSO_OK or what went wrong. Positions are 20 ms of audio,
 * mel frames 10 ms. */
#ifndef SAYSO_CPU_H
#define SAYSO_CPU_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define SAYSO_API __declspec(dllexport)
#else
#define SAYSO_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define SAYSO_ABI 1 /* changes with any change below but a new function */

typedef enum { SAYSO_OK = 0, SAYSO_CANCELLED = 1, SAYSO_BAD_ARGUMENT = 2, SAYSO_NO_MEMORY = 3 } sayso_status;
typedef enum { SAYSO_Q8_0 = 0, SAYSO_Q4_0 = 1, SAYSO_F32 = 2 } sayso_type;

typedef struct {
    int32_t n_mels, n_audio_state, n_audio_head, n_audio_layer;
    int32_t n_vocab, n_text_ctx, n_text_state, n_text_head, n_text_layer;
} sayso_dims;

/* Which tokens may come next; engine/runtime.py `Rules`. */
typedef struct {
    const int32_t* suppress;
    int32_t n_suppress;
    const int32_t* suppress_first;
    int32_t n_suppress_first;
    int32_t eot, no_timestamps, timestamp_begin;
    int32_t timestamps;            /* bool */
    int32_t max_initial_timestamp; /* -1: none */
} sayso_rules;

typedef struct {
    int32_t token;
    float logprob;
} sayso_choice;

typedef int (*sayso_cancelled)(void); /* asked between encoder layers; may be null */

typedef struct sayso_model sayso_model;
typedef struct sayso_stream sayso_stream;
typedef struct sayso_audio sayso_audio;
typedef struct sayso_decoder sayso_decoder;

SAYSO_API int sayso_abi(void);
/* Instruction sets that this processor can run, best first, separated by spaces. */
SAYSO_API const char* sayso_instruction_sets(void);

/* Null if `instruction_set` cannot run here (null or "": the best) or the sizes are not a Whisper's. */
SAYSO_API sayso_model* sayso_model_new(const sayso_dims* dims, int n_threads, const char* instruction_set);
SAYSO_API void sayso_model_free(sayso_model*);
SAYSO_API const char* sayso_model_instruction_set(const sayso_model*);
SAYSO_API int sayso_model_vector(sayso_model*, const char* name, const float* data, size_t n);
SAYSO_API int sayso_model_matrix(sayso_model*, const char* name, int type, const void* data, int rows, int cols,
                                 int first_row, int total_rows);
/* Writes the name of a tensor that is still missing ("" when complete). */
SAYSO_API void sayso_model_missing(const sayso_model*, char* name, size_t size);

/* Silence caches. `level` is the mel value of silence. The image is valid for this model and instruction set family. */
SAYSO_API int sayso_silence_has(sayso_model*, float level);
SAYSO_API int sayso_silence_make(sayso_model*, float level, sayso_cancelled);
SAYSO_API size_t sayso_silence_size(const sayso_model*);
SAYSO_API int sayso_silence_export(sayso_model*, float level, void* image);
SAYSO_API int sayso_silence_import(sayso_model*, float level, const void* image);
SAYSO_API int sayso_weight_offset(const sayso_model*);

/* Encoding. keep_layers: 1 to encode block by block, 0 for one window at once (less memory). */
SAYSO_API sayso_stream* sayso_stream_new(sayso_model*, int keep_layers);
SAYSO_API void sayso_stream_free(sayso_stream*);
/* Encodes positions [first, end); those before `first` are frozen, those from `end` on silence of `level` (made by
 * now; not used when end is 1500). mel: [n_frames][n_mels], its first row is frame `first_frame`; frames outside of it
 * that the convolutions reach count as zero. */
SAYSO_API int sayso_stream_encode(sayso_stream*, const float* mel, int first_frame, int n_frames, int first, int end,
                                  float level, sayso_cancelled);
/* What has been encoded, as a value of its own: it outlives the stream. */
SAYSO_API sayso_audio* sayso_stream_audio(sayso_stream*);
SAYSO_API void sayso_audio_free(sayso_audio*);
SAYSO_API void sayso_audio_states(const sayso_audio*, float* states); /* [1500][n_audio_state] */

/* Decoding. The audio must outlive the decoder. */
SAYSO_API sayso_decoder* sayso_decoder_new(sayso_model*, const sayso_audio*);
SAYSO_API void sayso_decoder_free(sayso_decoder*);
SAYSO_API int sayso_decoder_length(const sayso_decoder*);
SAYSO_API int sayso_decoder_append(sayso_decoder*, const int32_t* tokens, int n); /* the last's logits are pending */
SAYSO_API int sayso_decoder_logits(sayso_decoder*, float* logits); /* pending, [n_vocab] */
/* One decode step: appends `token` (negative: nothing), then chooses from the pending logits. `sampled`: the tokens
 * chosen so far, `token` among them. temperature 0: the likeliest; else drawn with `random`, 64 random bits. */
SAYSO_API int sayso_decoder_step(sayso_decoder*, int32_t token, const sayso_rules*, const int32_t* sampled,
                                 int n_sampled, float temperature, uint64_t random, sayso_choice*);
/* Checks a greedy draft of at most 32 tokens: the choices greedy decoding makes as far as the draft agrees, plus one
 * (room for n + 1). Appends the agreed tokens; the last choice stays pending. */
SAYSO_API int sayso_decoder_verify(sayso_decoder*, const int32_t* draft, int n, const sayso_rules*,
                                   const int32_t* sampled, int n_sampled, sayso_choice* choices, int* n_choices);
/* Forces n tokens through an empty decoder, which is empty again afterwards. heads: (layer, head) pairs; weights:
 * [n_heads][n][1500], what they look at in the audio; logprobs [n - 1]: of each token but the first among the ids below
 * n_words, minus infinity for others. */
SAYSO_API int sayso_decoder_align(sayso_decoder*, const int32_t* tokens, int n, const int32_t* heads, int n_heads,
                                  int n_words, float* weights, float* logprobs);
SAYSO_API int sayso_decoder_rewind(sayso_decoder*, int length);

#ifdef __cplusplus
}
#endif
#endif
