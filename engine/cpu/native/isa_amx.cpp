#include "kernels.h"
namespace sayso {
const Kernels* amx_kernels() { return nullptr; }
}  // namespace sayso
