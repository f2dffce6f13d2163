/**
 * The libraries of the programs as one: an instance's schema as statements, the statement stream, `.sql` text and
 * folders, and what statements make and need. Nothing here touches the process.
 *
 * ```ts
 * import { dump, identify, resolveInstance, title } from 'sqlpipe';
 *
 * const { env } = process;
 * const target = await resolveInstance('http://localhost:9000', { program: 'mine', env, warn: console.error });
 * for await (const batch of dump(target)) for (const statement of batch) console.log(title(identify(statement)));
 * ```
 *
 * Errors carry a `code`: `REFUSED`, `DAMAGED`, `NOINPUT`, `UNREACHABLE`, `IO`, `PROTOCOL`, `DENIED`, `CONFIG`, `USAGE`.
 *
 * @packageDocumentation
 */
export * from '@sqlpipe/catalog';
export * from '@sqlpipe/files';
export * from '@sqlpipe/instance';
export * from '@sqlpipe/records';
export * from '@sqlpipe/sql';
