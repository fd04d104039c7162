/** Which of the types a caller's Accept prefers, by quality and then by order; undefined where it names none of them. */
export function preferredType(accept: string | undefined, types: readonly string[]): string | undefined {
  const [best] = (accept ?? '')
    .split(',')
    .map((range) => {
      const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
      const quality = parameters.find((parameter) => parameter.startsWith('q='));
      return { type, quality: quality === undefined ? 1 : Number(quality.slice(2)) };
    })
    .filter(({ type, quality }) => types.includes(type) && quality > 0)
    .toSorted((a, b) => b.quality - a.quality);
  return best?.type;
}

/** Browsers name HTML when they open a page; programs that name nothing, or anything, get JSON. */
export function prefersHtml(accept: string | undefined): boolean {
  return preferredType(accept, ['text/html', 'application/json']) === 'text/html';
}
