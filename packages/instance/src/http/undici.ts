/*! Only undici's client: its index loads the whole library, which delays the start of a program by 70 ms. */
import type undici from 'undici';
// @ts-expect-error undici declares its types for the index only.
import client from 'undici/lib/dispatcher/client.js';

export const UndiciClient: typeof undici.Client = client;
