/** Options that cannot be used as they are. */
export class OptionsError extends Error {
  override readonly name = 'OptionsError';
  readonly code = 'USAGE';
}
