/*! One instance: asked for rows, or told to execute a statement. Here failures get the instance's name. */
import { setTimeout } from 'node:timers/promises';
import { createsToken, excerpt } from '@sqlpipe/sql';
import { InstanceError } from './error.js';
import { transportFailure } from './failure.js';
import { Connection, type Response, TransportError } from './http.js';
import { JsonError } from './json.js';
import {
  badReply,
  type Refusal,
  type Reply,
  readOutcome,
  readRefusal,
  readTable,
  refusal,
  retryAfter,
  UnexpectedReply,
} from './reply.js';
import { bufferNeeded, ENDPOINTS, type Endpoint, requestTarget } from './request.js';
import { RowScanner, ServerError } from './scanner.js';
import type { Target } from './target.js';

/** A connection to one instance: asks, dumps and executes, one request at a time. */
export interface Instance {
  /** Its address without secrets, for messages. */
  readonly label: string;
  /** The path that statements are sent to: the one that answered, once one has. */
  readonly endpoint: string;
  /**
   * The first column of each row of a query, while the reply arrives and in constant memory, as many rows at once as
   * have come. The generator ends well only when the reply was whole and sane; whoever writes rows on must not call
   * them complete before.
   * Throws `InstanceError`: `REFUSED` with the server's message and position where it said no.
   *
   * @param maxRow the longest single value in bytes, as JSON writes it; 32 MiB where not given
   */
  rows(query: string, maxRow?: number): AsyncGenerator<string[], void, undefined>;
  /** The rows of a small answer with all their cells, under the same checks. Throws as `rows` does. */
  table(query: string): Promise<unknown[][]>;
  /**
   * One statement, sent once, without the `;` at its end. The server's no is data. Failures throw `InstanceError`; its `lost` says whether the
   * statement may have been carried out all the same.
   */
  execute(statement: string): Promise<Reply>;
  /** The smallest request buffer (bytes) of a server that takes this statement; see `DEFAULT_REQUEST_BUFFER`. */
  bufferNeeded(statement: string): number;
  /** Closes the connection; what is in flight fails. */
  close(): Promise<void>;
}

/** The instance at an address. Nothing is sent before the first question. */
export function connect(target: Target): Instance {
  return new HttpInstance(target);
}

/**
 * Pauses between tries of a request that was answered 429 (nothing of it was executed), in milliseconds; longer where
 * the server asks for it, up to the longest.
 */
const PAUSES = [250, 500, 1000, 2000, 4000];
const LONGEST_PAUSE = 30_000;

/** Asks the server how many rows there are, so that a cap on the rows of a reply shows. */
const COUNT = '&count=true';

/** What to do where a question may not be asked. */
const DENIED = ': have the right to it granted, or use another account';

const NOT_ACCEPTED = 'The credentials that were given are not accepted: are they those of this instance?';
/** Observed on 9.3.4: it answers a token as it does a wrong password. */
const ONLY_BASIC = 'The open source edition accepts no tokens: give a user and a password.';

class HttpInstance implements Instance {
  readonly label: string;
  readonly #target: Target;
  readonly #pause: NonNullable<Target['pause']>;
  readonly #connection: Connection;
  readonly #closed = new AbortController();
  /** The one that requests go to; undefined until one has answered. */
  #endpoint: Endpoint | undefined;

  constructor(target: Target) {
    this.label = target.label;
    this.#target = target;
    this.#pause = target.pause ?? ((milliseconds, signal) => setTimeout(milliseconds, undefined, { signal }));
    this.#connection = new Connection({ ...target, origin: target.url.origin });
  }

  async *rows(query: string, maxRow?: number): AsyncGenerator<string[], void, undefined> {
    let response: Response | undefined;
    try {
      response = await this.#send(path => this.#connection.ask(path), query, COUNT);
      if (response.status !== 200) throw this.#refused(await readRefusal(response));
      yield* scan(response, maxRow);
    } catch (error) {
      throw this.#explain(error, query, response);
    }
  }

  table(query: string): Promise<unknown[][]> {
    const asked = () => this.#send(path => this.#connection.ask(path), query, COUNT);
    return this.#exchange(query, asked, async response => {
      if (response.status !== 200) throw this.#refused(await readRefusal(response));
      return readTable(response);
    });
  }

  execute(statement: string): Promise<Reply> {
    const sent = () => this.#send(path => this.#connection.get(path), statement);
    const acceptRows = createsToken(statement);
    return this.#exchange(statement, sent, response => readOutcome(response, acceptRows));
  }

  bufferNeeded(statement: string): number {
    return bufferNeeded(this.#path(statement), this.#connection.headerLines);
  }

  close(): Promise<void> {
    this.#closed.abort();
    return this.#connection.close();
  }

  /** Without the `;` at the end: QuestDB 9.3.4 keeps it in the body of a view that is made without parentheses. */
  #path(statement: string, parameters = '', endpoint: Endpoint = this.#endpoint ?? ENDPOINTS[0]): string {
    const prefix = this.#target.url.pathname.replace(/\/$/, '');
    return requestTarget(prefix + endpoint, statement.replace(/;$/, ''), parameters);
  }

  /** Sends a statement to the endpoint that the instance has. One that is not there has executed nothing. */
  async #send(request: (path: string) => Promise<Response>, statement: string, parameters?: string): Promise<Response> {
    const ask = async (endpoint: Endpoint): Promise<Response> => {
      const response = await this.#patiently(() => request(this.#path(statement, parameters, endpoint)));
      if (response.status !== 404 && response.status < 500) this.#endpoint = endpoint;
      return response;
    };
    const [first, second] = this.#endpoint ? [this.#endpoint] : ENDPOINTS;
    const response = await ask(first);
    if (response.status !== 404 || !second) return response;
    response.body.resume();
    return ask(second);
  }

  async #exchange<T>(
    statement: string,
    send: () => Promise<Response>,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    let response: Response | undefined;
    try {
      response = await send();
      return await read(response);
    } catch (error) {
      throw this.#explain(error, statement, response);
    }
  }

  /** Sends again while the server is too busy. */
  async #patiently(send: () => Promise<Response>): Promise<Response> {
    for (const milliseconds of PAUSES) {
      const response = await send();
      const asked = 1000 * (retryAfter(response) ?? 0);
      if (response.status !== 429 || asked > LONGEST_PAUSE) return response;
      response.body.destroy();
      await this.#pause(Math.max(milliseconds, asked), this.#closed.signal).catch(() => {}); // the next try says why
    }
    return send();
  }

  #refused({ message, position, status, denied }: Refusal): InstanceError {
    return new InstanceError(
      denied ? 'DENIED' : 'REFUSED',
      `${this.label}: the server says no: ${excerpt(message, 500)}${denied ? DENIED : ''}`,
      { status, position, serverMessage: message },
    );
  }

  /** Any error of a request, with the instance's name; a bug of ours stays what it is. */
  #explain(error: unknown, statement: string, response: Response | undefined): unknown {
    const status = response?.status;
    if (error instanceof ServerError && response) return this.#refused(refusal(error, response));
    if (error instanceof UnexpectedReply) return this.#unexpected(error, status);
    if (!(error instanceof TransportError)) return error;
    const { code, message } = transportFailure(error, {
      ...this.#target,
      bufferNeeded: this.bufferNeeded(statement),
    });
    const lost = error.phase !== 'connecting' && mayHaveRun(status);
    const { unknownName } = this.#target;
    const hint = error.phase === 'connecting' && unknownName ? `; ${unknownName}` : '';
    return new InstanceError(code, `${this.label}: ${message}${hint}`, { status, lost, cause: error.cause });
  }

  get #whoAreYou(): string {
    const { account, authorization, credentialsHelp } = this.#target;
    if (authorization === undefined) return credentialsHelp;
    const basic = authorization.startsWith('Bearer ') ? ` ${ONLY_BASIC}` : '';
    const given = account === undefined ? '' : ` Given: ${account}`;
    return `${NOT_ACCEPTED}${basic}${given}`;
  }

  get endpoint(): string {
    return this.#target.url.pathname.replace(/\/$/, '') + (this.#endpoint ?? ENDPOINTS[0]);
  }

  /** The addresses that were not found, without what was asked for there. */
  get #tried(): string {
    const { origin, pathname } = this.#target.url;
    const endpoints = this.#endpoint ? [this.#endpoint] : ENDPOINTS;
    return endpoints.map(endpoint => origin + pathname.replace(/\/$/, '') + endpoint).join(' and no ');
  }

  #unexpected({ code, message }: UnexpectedReply, status: number | undefined): InstanceError {
    const help = status === 401 ? ` ${this.#whoAreYou}` : status === 404 ? ` It has no ${this.#tried}.` : '';
    return new InstanceError(code, `${this.label}: ${message}${help}`, { status, lost: mayHaveRun(status) });
  }
}

/** The rows of an answer, as many at a time as have come. Throws `UnexpectedReply` in place of `JsonError`. */
async function* scan(response: Response, maxRow: number | undefined): AsyncGenerator<string[]> {
  const { body, clock } = response;
  const scanner = new RowScanner(maxRow);
  let start: Buffer | undefined;
  const restartClock = (): void => {
    clock.reset();
    clock.start();
  };
  clock.stop();
  restartClock();
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      clock.stop(); // while others are at work nobody waits for the server
      start ??= chunk;
      const rows = scanner.write(chunk);
      yield rows;
      if (rows.length) restartClock();
      else clock.start();
    }
    scanner.end();
  } catch (error) {
    throw error instanceof JsonError ? badReply(error, response, start) : error;
  } finally {
    clock.stop();
  }
}

/** Whether a request with this status (none: no answer) may have been carried out although we can't tell. */
function mayHaveRun(status: number | undefined): boolean {
  return status === undefined || status < 300 || status === 408 || status >= 500;
}
