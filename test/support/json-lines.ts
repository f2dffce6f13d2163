export const parseJsonLines = <T = ReturnType<typeof JSON.parse>>(text: string | Buffer): T[] =>
  String(text)
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line) as T);
