/*! undici's client alone: its index loads the whole library, which costs a starting program 60 ms more. */
import type undici from 'undici';
// @ts-expect-error undici declares its types for the index only.
import client from 'undici/lib/dispatcher/client.js';

export const Client: typeof undici.Client = client;
