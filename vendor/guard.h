// What every function of the shim does around llama.cpp's own calls.
#pragma once

#include "shim.h"

#include <cstdio>
#include <exception>

inline void say(char * err, size_t err_len, const char * text) {
    if (err != nullptr && err_len > 0) {
        std::snprintf(err, err_len, "%s", text);
    }
}

// Runs `body` and turns an exception into a status, so that none unwinds into Rust.
template <typename Body>
int32_t guarded(char * err, size_t err_len, Body && body) {
    say(err, err_len, "");
    try {
        return body();
    } catch (const std::exception & e) {
        say(err, err_len, e.what());
    } catch (...) {
        say(err, err_len, "unknown C++ exception");
    }
    return MSD_EXCEPTION;
}
