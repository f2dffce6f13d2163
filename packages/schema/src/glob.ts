/**
 * Whether a glob matches a whole text: `*` matches any characters, `?` one character, and any other character itself.
 * There is no escape for `*` and `?`, because no name of an object contains them.
 *
 * After a mismatch only the last `*` is tried with one character more, so the time stays polynomial.
 */
export function matchesGlob(glob: string, text: string): boolean {
  const [pattern, characters] = [[...glob], [...text]];
  let star = -1;
  let starEnd = 0;
  let next = 0;
  for (let i = 0; i < characters.length; ) {
    if (pattern[next] === '*') {
      star = next++;
      starEnd = i;
    } else if (pattern[next] === '?' || pattern[next] === characters[i]) {
      next++;
      i++;
    } else if (star >= 0) {
      next = star + 1;
      i = ++starEnd;
    } else return false;
  }
  return pattern.slice(next).every(rest => rest === '*');
}
