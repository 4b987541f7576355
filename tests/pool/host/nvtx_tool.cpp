// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The variable by which NVTX finds a tool that is linked with the program. NVTX's headers define it as a weak symbol
// wherever they are included, so this file includes none of them.

extern "C" {
int attach_tool_of_nvtx_test(void* to);

int (*InitializeInjectionNvtxExtension_fnptr)(void*) = &attach_tool_of_nvtx_test;
}
