/*! Replaces clauses of a statement that creates an object, at the places where its parser found them. */
import { type ClauseSpan, parseCreateStatement, repair } from '@sqlpipe/ddl';

/** A clause with its text, which begins with the white space before it. */
export interface Clause extends ClauseSpan {
  /** The property that it states, as a comparison names it: `column 'x' index`. */
  readonly property: string;
  readonly text: string;
}

/**
 * Replaces the clauses for which there is another text. The syntax of the statement is known, at least after a misprint of the server is
 * repaired.
 * @returns the statement unchanged if nothing is replaced
 */
export function replaceClauses(
  given: string,
  replace: (clause: Clause, statement: ReturnType<typeof parseCreateStatement>) => string | undefined,
): string {
  const text = repair(given).statement;
  const statement = parseCreateStatement(text);
  const spans = Array.from(statement.spans, ([property, span]) => ({ ...span, property }));
  let replaced = '';
  let end = 0;
  for (const span of spans.sort((a, b) => a.start - b.start)) {
    const now = replace({ ...span, text: text.slice(span.start, span.end) }, statement);
    if (now === undefined) continue;
    replaced += text.slice(end, span.start) + now;
    end = span.end;
  }
  return end === 0 ? given : replaced + text.slice(end);
}
