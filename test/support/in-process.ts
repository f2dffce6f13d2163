/*! Command lines with our programs as functions of the test's process: nothing is started for them. */
import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import {
  createReadStream,
  createWriteStream,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import type { ProcessLike } from '@sqlpipe/cli';
import { type Command, parseScript, type Word } from './command-line.js';
import { freshFolder } from './folder.js';
import type { Scope } from './scope.js';
import { decode, type Outcome, type Shell, shellEnvironment, shellIn, toShell } from './shell.js';

/** The programs as `bundleTests()` writes them; of the server only what ends at once, such as `--help`. */
const PROGRAMS = new Map(
  readdirSync('packages')
    .filter(name => /^sql./.test(name))
    .map(name => [name, resolve(`.cache/compiled/packages/${name}/src/main.js`)]),
);
const ROOT = process.cwd();

/** Runs scripts in this process, in a folder; `bash` runs one in a real bash, in the same folder. */
export interface Run extends Shell {
  folder: string;
  bash: Shell;
}

/**
 * Like `shell`, for scripts that have only what command-line.ts lists. Our programs and `echo` are called as functions; other commands
 * are processes. What is about processes, signals, V8's flags, the commit mark, pipes or terminals needs a real shell.
 * @param files what is in the folder, by name or path
 */
export async function inProcess(
  scope: Scope,
  env: NodeJS.ProcessEnv = {},
  files: Readonly<Record<string, string>> = {},
): Promise<Run> {
  const cwd = await freshFolder(scope);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), text);
  }
  const variables = shellEnvironment(cwd, env);
  const run = toShell(script => inFolder(cwd, () => new Session({ ...variables, PWD: cwd }).run(script)));
  return Object.assign(run, { folder: cwd, bash: shellIn(cwd, variables) });
}

/** Commands that are the same as a process of their own and in a shell. */
const COMMANDS = new Set('cat cmp cp cut echo grep head jq printf rm sed set sort tr umask uniq wc'.split(' '));

/** Whether a script starts only our programs and usual commands, and has only what command-line.ts lists. */
export function needsNoShell(script: string): boolean {
  try {
    const commands = parseScript(script).flatMap(pipeline => pipeline.commands);
    const names = commands.map(({ words: [name] }) => name?.map(({ text }) => text).join('') ?? '');
    return names.every(name => PROGRAMS.has(name) || COMMANDS.has(name));
  } catch {
    return false;
  }
}

let runs = 0;
const idle = new EventEmitter();

/** Does work in a folder. A process is in one folder: work in another one waits. */
async function inFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  while (runs > 0 && process.cwd() !== folder) await once(idle, 'idle');
  runs++;
  const mask = process.umask();
  process.chdir(folder);
  try {
    return await work();
  } finally {
    if (--runs === 0) {
      process.chdir(ROOT);
      process.umask(mask);
      idle.emit('idle');
    }
  }
}

type Type = ReturnType<ProcessLike['fstat']>;
const typeOf = (type: 'pipe' | 'other'): Type => ({
  isFIFO: () => type === 'pipe',
  isSocket: () => false,
  isDirectory: () => false,
});

interface Streams {
  input: Readable;
  output: Writable;
  errors: Writable;
  types: [input: Type, output: Type];
}

/** One script: its variables, and what it has printed. */
class Session {
  readonly #variables: NodeJS.ProcessEnv;
  readonly #stdout: Buffer[] = [];
  readonly #stderr: Buffer[] = [];
  #statuses = [0];
  /** Those of `set`: `-e`, `-f`, and `-o pipefail`. */
  #options: readonly string[] = [];

  constructor(variables: NodeJS.ProcessEnv) {
    this.#variables = variables;
  }

  async run(script: string): Promise<Outcome> {
    for (const { after, commands } of parseScript(script)) {
      if (after === ';' && this.#status && this.#options.includes('-e')) break;
      if ((after === '&&' && this.#status) || (after === '||' && !this.#status)) continue;
      const [first] = commands;
      const words = first?.words.flatMap(word => this.#expand(word)) ?? [];
      const [name, status] = words;
      if (name === 'exit') {
        if (status !== undefined) this.#statuses = [Number(status)];
        break;
      }
      if (name === 'set') {
        this.#options = words;
        continue;
      }
      if (name === 'umask') {
        process.umask(status ?? 0);
        continue;
      }
      if (name === undefined && first) Object.assign(this.#variables, this.#assign(first));
      else this.#statuses = await this.#runPipeline(commands);
    }
    return {
      code: this.#status,
      stdout: decode(Buffer.concat(this.#stdout)),
      stderr: decode(Buffer.concat(this.#stderr)),
    };
  }

  get #status(): number {
    const failed = this.#options.includes('pipefail') ? this.#statuses.findLast(status => status !== 0) : undefined;
    return failed ?? this.#statuses.at(-1) ?? 0;
  }

  #runPipeline(commands: readonly Command[]): Promise<number[]> {
    const pipes = commands.slice(1).map(createPipe);
    return Promise.all(
      commands.map((command, i) =>
        this.#runCommand(command, {
          input: pipes[i - 1]?.reader ?? Readable.from([]),
          output: pipes[i]?.writer ?? collect(this.#stdout),
          errors: collect(this.#stderr),
          types: [typeOf(i > 0 ? 'pipe' : 'other'), typeOf('pipe')],
        }),
      ),
    );
  }

  async #runCommand(command: Command, piped: Streams): Promise<number> {
    const [name = '', ...args] = command.words.flatMap(word => this.#expand(word));
    const env = { ...this.#variables, ...this.#assign(command) };
    let streams = piped;
    try {
      streams = this.#redirect(command, piped);
      if (name === 'echo') {
        const [first, ...others] = args;
        streams.output.write(first === '-n' ? others.join(' ') : `${args.join(' ')}\n`);
        return 0;
      }
      const main = await loadProgram(name);
      if (!main) return await runProcess(name, args, env, streams);
      if (args.some(argument => /^\/dev\/(?:fd|std|tty)/.test(argument)) || env.NODE_OPTIONS)
        throw new NeedsShell(`${name} ${args.join(' ')} is about the process`);
      return await main({
        args,
        env,
        stdin: () => streams.input,
        stdout: streams.output,
        stderr: streams.errors,
        fstat: stream => streams.types[stream],
        catchSignals: () => new AbortController().signal,
        onUncaught() {}, // the test fails by itself
      });
    } catch (error) {
      if (error instanceof NeedsShell) throw error;
      streams.errors.write(`${(error as Error).message}\n`); // of a redirection
      return 1;
    } finally {
      streams.input.destroy();
      piped.input.destroy();
      for (const output of new Set([streams.output, streams.errors, piped.output, piped.errors])) {
        output.end();
        await finished(output).catch(() => {}); // its reader may have ended
      }
    }
  }

  #redirect({ redirections }: Command, streams: Streams): Streams {
    const redirected = { ...streams };
    const [input, output] = streams.types;
    redirected.types = [input, output];
    for (const { operator, target } of redirections) {
      const [path = ''] = this.#expand(target);
      if (operator === '2>&1') redirected.errors = redirected.output;
      else if (operator === '>&2') redirected.output = redirected.errors;
      else if (operator === '<<<') redirected.input = Readable.from([Buffer.from(`${path}\n`)]);
      else {
        const fd = openSync(path, operator === '<' ? 'r' : operator.endsWith('>>') ? 'a' : 'w');
        if (operator === '<') redirected.input = createReadStream(path, { fd });
        else redirected[operator.startsWith('2') ? 'errors' : 'output'] = createWriteStream(path, { fd });
        if (!operator.startsWith('2')) redirected.types[operator === '<' ? 0 : 1] = fstatSync(fd);
      }
      if (operator === '<<<') redirected.types[0] = typeOf('other');
    }
    return redirected;
  }

  #assign({ assignments }: Command): NodeJS.ProcessEnv {
    const textOf = (word: Word) => word.map(({ text, variable }) => text ?? this.#valueOf(variable)).join('');
    return Object.fromEntries(assignments.map(([name, word]) => [name, textOf(word)]));
  }

  /** The words that a word stands for: several, or none, if a variable without quotes has blanks or nothing. */
  #expand(word: Word): string[] {
    const words: string[] = [];
    let last: string | undefined;
    for (const { text, variable, isQuoted, isGlob } of word) {
      if (isGlob && !this.#options.includes('-f')) throw new NeedsShell(`only a real shell looks for files: ${text}`);
      const value = text ?? this.#valueOf(variable);
      for (const [i, piece] of (isQuoted ? [value] : value.split(/\s+/)).entries()) {
        if (i > 0 && last !== undefined) {
          words.push(last);
          last = undefined;
        }
        if (piece || isQuoted) last = (last ?? '') + piece;
      }
    }
    return last === undefined ? words : [...words, last];
  }

  #valueOf(variable = ''): string {
    if (variable === '?') return String(this.#status);
    const [, index] = /^PIPESTATUS(?:\[(.)\])?$/.exec(variable) ?? [];
    if (variable.startsWith('PIPESTATUS'))
      return index === '@' ? this.#statuses.join(' ') : String(this.#statuses[Number(index ?? 0)] ?? '');
    return this.#variables[variable] ?? '';
  }
}

class NeedsShell extends Error {}

async function loadProgram(name: string): Promise<((host: ProcessLike) => Promise<number>) | undefined> {
  const path = PROGRAMS.get(name);
  return path === undefined ? undefined : (await import(path)).main;
}

async function runProcess(
  name: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  { input, output, errors }: Streams,
): Promise<number> {
  const child = spawn(name, args, { env, stdio: 'pipe' });
  const failed = once(child, 'error').then(([error]) => {
    throw new NeedsShell(`only a real shell has ${name}: ${error.message}`);
  });
  const ignoreClosedPipe = (work: Promise<unknown>) => work.catch(() => {});
  const [[status, signal]] = await Promise.race([
    Promise.all([
      once(child, 'exit'),
      ignoreClosedPipe(pipeline(child.stdout, output, { end: false })),
      ignoreClosedPipe(pipeline(child.stderr, errors, { end: false })),
      ignoreClosedPipe(pipeline(input, child.stdin)),
    ]),
    failed,
  ]);
  return status ?? (signal === 'SIGPIPE' ? 141 : 128);
}

/** The two ends of a pipe. When its reader has ended, writing to it fails as it does between processes. */
function createPipe(): { reader: Readable; writer: Writable } {
  let wake = () => {};
  const reader = new Readable({
    highWaterMark: 64 * 1024, // as Linux has it
    read: () => wake(),
    destroy(error, done) {
      wake();
      done(error);
    },
  });
  const writer = new Writable({
    write(chunk, _encoding, done) {
      wake = () => {
        wake = () => {};
        done(reader.destroyed ? Object.assign(new Error('write EPIPE'), { code: 'EPIPE', syscall: 'write' }) : null);
      };
      if (reader.destroyed || reader.push(chunk)) wake();
    },
    final(done) {
      if (!reader.destroyed) reader.push(null);
      done();
    },
  });
  for (const end of [reader, writer]) end.on('error', () => {}); // those who use them see it
  return { reader, writer };
}

const collect = (chunks: Buffer[]): Writable =>
  new Writable({
    write(chunk, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
