/** `*` matches any characters, `?` one. After a mismatch, only the last `*` is tried with one character more: the time stays polynomial. */
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

/** Whether there is a text that two globs match. The time is the product of their lengths. */
export function canMatchSameText(one: string, other: string): boolean {
  const [a, b] = [[...one], [...other]];
  let next: boolean[] = []; // `next[j]`: whether `a` after position i, and `b` from j on, can match the same text
  for (let i = a.length; i >= 0; i--) {
    const row: boolean[] = [];
    for (let j = b.length; j >= 0; j--) {
      const [x, y] = [a[i], b[j]];
      const skipsX = x !== undefined && next[j] === true;
      const skipsY = y !== undefined && row[j + 1] === true;
      if (x === '*' || y === '*') row[j] = skipsX || skipsY;
      else
        row[j] =
          x === undefined || y === undefined ? x === y : (x === y || x === '?' || y === '?') && next[j + 1] === true;
    }
    next = row;
  }
  return next[0] === true;
}
