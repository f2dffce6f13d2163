/**
 * Whether a glob stands for a whole text: `*` for anything, `?` for one character, all else for itself. No name of an
 * object holds either, so neither needs a way to stand for itself.
 *
 * On a mismatch only the last `*` matches one character more, so the time stays polynomial.
 */
export function matchesGlob(glob: string, text: string): boolean {
  const [pattern, characters] = [[...glob], [...text]];
  let star = -1;
  let starred = 0;
  let at = 0;
  for (let i = 0; i < characters.length; ) {
    if (pattern[at] === '*') {
      star = at++;
      starred = i;
    } else if (pattern[at] === '?' || pattern[at] === characters[i]) {
      at++;
      i++;
    } else if (star >= 0) {
      at = star + 1;
      i = ++starred;
    } else return false;
  }
  return pattern.slice(at).every(rest => rest === '*');
}
