/** Statements that exceed a limit of the analysis. The message names the limit. */
export class LimitError extends Error {
  override name = 'LimitError';
  readonly code = 'DAMAGED';
}
