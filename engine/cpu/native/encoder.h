// The encoder: mel -> final states and cross-attention keys and values, for a whole window or block by block.
#pragma once

#include "model.h"

namespace sayso {

struct Mel {
    const float* values;  // [n_frames][n_mels]
    int first_frame, n_frames;
};

// Encodes positions in order; keeps what later positions and the decoder attend to.
class Encoder {
public:
    // keep_layers: keep every layer's keys and values, so that encoding can go on behind them.
    Encoder(Model& model, bool keep_layers);

    // Positions [first, end). Those before `first` were encoded by earlier calls; those from `end` on are silence
    // (null when end is 1500). False if cancelled.
    bool encode(const Mel& mel, int first, int end, std::shared_ptr<const Silence> silence, Cancelled cancelled);

    // What is encoded: a copy where encoding goes on (keep_layers), else the thing itself.
    std::unique_ptr<Audio> take_audio();
    std::shared_ptr<const Silence> into_silence();

private:
    struct Scratch;  // of one thread
    struct Workspace;
    Workspace& workspace(int n_positions);
    void stem(const Mel& mel, int a, int b, Scratch& s);
    void self_projections(int layer, int a, int b, Scratch& s);
    void layer_rows(int layer, int a, int b, Scratch& s);
    void final_rows(int a, int b, Scratch& s);
    void open_layer(int layer);
    float* row(float* rows, int position) const {
        return rows + size_t(position - first_) * model_.dims.n_audio_state;
    }
    int buffer(int layer) const { return layer % n_buffers_; }

    Model& model_;
    int n_buffers_;    // layers whose keys and values are held at once
    HeadBlocks self_;  // [n_buffers][heads][47]
    HeadBlocks cross_;
    Buffer<float> states_;  // [1500][d]
    std::shared_ptr<const Silence> silence_;
    bool keep_layers_;
    int first_ = 0, end_ = 0;
    float *x_ = nullptr, *q_ = nullptr;  // residual stream and queries of [first, end)
};

}  // namespace sayso
