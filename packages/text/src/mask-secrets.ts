/** Replaces secrets by stars: as they are, in base64, or misread as Latin-1; each even if escaped as in URLs, JSON or HTML, also twice. */
export function maskSecrets(text: string, secrets: readonly string[]): string {
  const encoded = [...new Set(secrets.flatMap(encodings).map(toByteString))].filter(Boolean);
  if (!encoded.length) return text;
  const masked = Buffer.from(text);
  const raw = { text: toByteString(text), starts: Array.from({ length: masked.length + 1 }, (_, i) => i) };
  const once = decodeEscapes(raw);
  for (const decoded of [raw, ...once, ...once.flatMap(decodeEscapes)])
    for (const secret of encoded)
      for (let at = decoded.text.indexOf(secret); at >= 0; at = decoded.text.indexOf(secret, at + 1))
        if (isStandalone(decoded.text, at, secret)) masked.fill('*', ...originalSpan(decoded, at, at + secret.length));
  return masked.toString();
}

/** The forms in which a text may hold a secret, before it is escaped. */
function encodings(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const inBase64 = (['base64', 'base64url'] as const).flatMap(form => {
    // It may follow one or two other bytes. The characters that depend on its neighbours are left out.
    const inside = [0, 1, 2].map(before => {
      const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString(form);
      return encoded.slice(Math.ceil((8 * before) / 6), Math.floor((8 * (before + bytes.length)) / 6));
    });
    return [bytes.toString(form).replace(/=+$/, ''), ...inside.filter(({ length }) => length >= LONG_SECRET)];
  });
  return [secret, secret.replaceAll('+', ' '), bytes.toString('latin1'), ...inBase64];
}

/** The length from which a secret is not part of ordinary words. */
const LONG_SECRET = 8;

/** A text as a string of its UTF-8 bytes, and the offset that each byte had in the text before escapes were decoded. */
interface DecodedText {
  text: string;
  starts: number[];
}

const toByteString = (text: string): string => Buffer.from(text).toString('latin1');

const JSON_LETTERS: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
const HTML_NAMES: Record<string, string> = { quot: '"', amp: '&', apos: "'", lt: '<', gt: '>' };

const ESCAPES: [pattern: RegExp, decode: (sequence: string) => string][] = [
  [/%[\da-f]{2}|\+/gi, sequence => (sequence === '+' ? ' ' : String.fromCharCode(Number(`0x${sequence.slice(1)}`)))],
  [
    /(?:\\u[\da-f]{4}){1,1000}|\\[^]/gi,
    sequence =>
      sequence.length === 2
        ? (JSON_LETTERS[sequence.charAt(1)] ?? sequence.charAt(1))
        : toByteString(String.fromCharCode(...(sequence.match(/[\da-f]{4}/gi) ?? []).map(unit => Number(`0x${unit}`)))),
  ],
  [
    /&(?:#\d{1,7}|#x[\da-f]{1,6}|quot|amp|apos|lt|gt);/gi,
    sequence => {
      const name = sequence.slice(1, -1).toLowerCase();
      const code = Number(name.replace('#x', '0x').replace('#', ''));
      return HTML_NAMES[name] ?? (code <= 0x10ffff ? toByteString(String.fromCodePoint(code)) : sequence);
    },
  ],
];

/** Decodes the escapes of a text: one result for each syntax (URL, JSON, HTML) that the text contains. */
const decodeEscapes = ({ text, starts }: DecodedText): DecodedText[] =>
  ESCAPES.flatMap(([pattern, decode]) => {
    const origins: number[] = [];
    let end = 0;
    const keepUntil = (index: number) => {
      for (; end < index; end++) origins.push(starts[end] as number);
    };
    const decodedText = text.replace(pattern, (sequence, index: number) => {
      keepUntil(index);
      const decoded = decode(sequence);
      for (const _ of decoded) origins.push(starts[index] as number);
      end = index + sequence.length;
      return decoded;
    });
    keepUntil(starts.length);
    return decodedText === text ? [] : { text: decodedText, starts: origins };
  });

/** The span of the original bytes of a piece of decoded text. It contains complete escape sequences. */
function originalSpan({ starts }: DecodedText, from: number, to: number): [start: number, end: number] {
  let end = to;
  while (starts[end] === starts[to - 1]) end++;
  return [starts[from] as number, starts[end] as number];
}

/** Whether a secret is a word by itself. A short one of letters or of digits may be part of other words, where stars would reveal it. */
function isStandalone(text: string, at: number, secret: string): boolean {
  const isWithinWord = (offset: number): boolean =>
    /^(?:[a-z]{2}|\d{2})$/i.test(text.slice(Math.max(0, offset - 1), offset + 1));
  const mayBeInWords = secret.length < LONG_SECRET && /^(?:[a-z]+|\d+)$/i.test(secret);
  return !mayBeInWords || !(isWithinWord(at) || isWithinWord(at + secret.length));
}
