/*! Only undici's client: its index loads the whole library, which delays the start of a program by 70 ms. */
import { setFlagsFromString } from 'node:v8';
import type undici from 'undici';
// @ts-expect-error undici declares its types for the index only.
import client from 'undici/lib/dispatcher/client.js';

// After some replies, V8 would optimize undici's HTTP parser (WebAssembly). On Node 20, that takes 80 ms and 35 MB, and delays the end of a
// program. The code of V8's first compiler is fast enough. Node 24 obeys only the budget, and Node 20 only up to a budget of 400 MB.
setFlagsFromString('--liftoff-only --wasm-tiering-budget=2147483647');

export const UndiciClient: typeof undici.Client = client;
