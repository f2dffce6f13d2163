/*! undici's client alone: its index loads the whole library, which costs a starting program 60 ms more. */
import { setFlagsFromString } from 'node:v8';
import type undici from 'undici';
// @ts-expect-error undici declares its types for the index only.
import client from 'undici/lib/dispatcher/client.js';

// V8 would optimise undici's HTTP parser (WebAssembly) after some replies: 80 ms and 35 MB for a program that has ended by
// then, and waits for it. Its first compiler's code is fast enough. Node 24 heeds the budget alone, Node 20 only as far as
// that goes: 400 MB.
setFlagsFromString('--liftoff-only --wasm-tiering-budget=2147483647');

export const Client: typeof undici.Client = client;
