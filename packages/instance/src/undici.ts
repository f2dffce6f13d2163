/*! undici's client alone: its index loads the whole library, which costs a starting program 60 ms more. */
import { setFlagsFromString } from 'node:v8';
import type undici from 'undici';
// @ts-expect-error undici declares its types for the index only.
import client from 'undici/lib/dispatcher/client.js';

// V8 optimises undici's HTTP parser (WebAssembly) after a few replies: 80 ms of work that a short program waits for at
// its end. With a hundred times the budget only a long replay gets there, and that is worth it.
setFlagsFromString('--wasm-tiering-budget=180000000');

export const Client: typeof undici.Client = client;
