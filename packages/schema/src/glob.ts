/** `*` matches any characters, `?` one. After a mismatch, only the last `*` is tried with one character more: the time stays polynomial. */
export function matchesGlob(glob: string, text: string): boolean {
  const [pattern, characters] = [[...glob], [...text]];
  let next = 0; // in the pattern
  let lastStar = -1;
  let starEnd = 0; // where the text ends that the last `*` matches
  for (let i = 0; i < characters.length; ) {
    if (pattern[next] === '*') {
      lastStar = next++;
      starEnd = i;
    } else if (pattern[next] === '?' || pattern[next] === characters[i]) {
      next++;
      i++;
    } else if (lastStar >= 0) {
      next = lastStar + 1;
      i = ++starEnd;
    } else return false;
  }
  return pattern.slice(next).every(rest => rest === '*');
}

/** Whether there is a text that two globs match. The time is the product of their lengths. */
export function canMatchSameText(one: string, other: string): boolean {
  const [a, b] = [[...one], [...other]];
  let after: boolean[] = []; // the row of `i + 1`
  for (let i = a.length; i >= 0; i--) {
    const row: boolean[] = []; // `row[j]`: whether `a` from i on, and `b` from j on, can match the same text
    for (let j = b.length; j >= 0; j--) {
      const [x, y] = [a[i], b[j]];
      // A `*` matches nothing, or what the other glob has here.
      if (x === '*' || y === '*') row[j] = Boolean(after[j] || row[j + 1]);
      else if (x === undefined || y === undefined) row[j] = x === y;
      else row[j] = (x === y || x === '?' || y === '?') && after[j + 1] === true;
    }
    after = row;
  }
  return after[0] === true;
}
