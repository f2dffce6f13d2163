/*! undici's proxy agent, apart from its client because few runs need it. */
import type undici from 'undici';
// @ts-expect-error undici declares its types for the index only.
import connect from 'undici/lib/api/api-connect.js';
// @ts-expect-error
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
// @ts-expect-error
import agent from 'undici/lib/dispatcher/proxy-agent.js';

// What the index does on loading, as far as a tunnel needs it.
Dispatcher.prototype.connect = connect;

export const ProxyAgent: typeof undici.ProxyAgent = agent;
