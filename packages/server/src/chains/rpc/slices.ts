/** The list in parts of at most `most`, in order. */
export function slicesOf<T>(list: readonly T[], most: number): T[][] {
  const slices: T[][] = [];
  for (let i = 0; i < list.length; i += most) slices.push(list.slice(i, i + most));
  return slices;
}
