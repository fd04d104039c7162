/**
 * Letters, digits and marks that look like Latin ones in either case, after case folding: Cyrillic, Greek, Armenian and
 * phonetic ones. Each maps to the text on the left, as the skeletons of Unicode's UTS #39 do.
 */
const LOOKALIKES: readonly (readonly [shown: string, others: string])[] = [
  ['a', '\u0430\u03b1\u0251'],
  ['b', '\u0432\u03b2\u044c'],
  ['c', '\u0441'],
  ['d', '\u0501'],
  ['e', '\u0435\u03b5\u04bd'],
  ['f', '\u03dd'],
  ['g', '\u0261\u0581'],
  ['h', '\u043d\u03b7\u04bb\u0570'],
  ['j', '\u0458\u03f3'],
  ['k', '\u043a\u03ba'],
  ['l', 'i1|!\u0131\u01c0\u0456\u04cf\u03b9'],
  ['rn', 'm\u043c\u03bc'],
  ['n', '\u03bd\u0578'],
  ['o', '0\u043e\u03bf\u0585'],
  ['p', '\u0440\u03c1'],
  ['q', '\u051b\u0566'],
  ['r', '\u0433'],
  ['s', '\u0455'],
  ['t', '\u0442\u03c4'],
  ['u', '\u057d'],
  ['v', '\u0475'],
  ['vv', 'w\u051d\u0461\u0561'],
  ['x', '\u0445\u03c7'],
  ['y', '\u0443\u04af\u03c5\u03b3'],
  ['z', '\u03b6'],
  ['3', '\u0437\u0292'],
  ['6', '\u0431'],
  ["'", '\u2018\u2019\u02bc\u00b4`'],
  ['-', '\u2010\u2011\u2012\u2013\u2014\u2212'],
];

const SHOWN = new Map(LOOKALIKES.flatMap(([shown, others]) => [...others].map((other) => [other, shown])));

/** Upper case first, so that letters like ß, whose upper case is two letters, fold to the same as those letters. */
const foldOnce = (text: string) => text.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC');

/** Folds until nothing changes, as some letters fold to ones that fold again. */
function fold(text: string): string {
  const folded = foldOnce(text);
  return folded === text ? text : fold(folded);
}

/** The skeleton of a name, equal for names that look alike. Never shown: it is no name itself. */
export function nameSkeleton(name: string): string {
  const letters = [...fold(name).normalize('NFD')].map((letter) => SHOWN.get(letter) ?? letter);
  return letters.join('').trim().replace(/\s+/gu, ' ');
}
