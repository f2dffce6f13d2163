/*! undici's proxy agent. It is not loaded with the client, because few runs need it. */
import type undici from 'undici';
// @ts-expect-error undici declares its types for the index only.
import connect from 'undici/lib/api/api-connect.js';
// @ts-expect-error
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
// @ts-expect-error
import agent from 'undici/lib/dispatcher/proxy-agent.js';

// undici's index does this when it is loaded; a tunnel needs it.
Dispatcher.prototype.connect = connect;

export const ProxyAgent: typeof undici.ProxyAgent = agent;
