/**
 * Does something over and over, several at once, until `end`. What fails is told there: a test that fails before says its own reason.
 *
 * @param turn is given 0, 1, …, each number of them once or more
 */
export function underLoad(
  count: number,
  turn: (number: number) => Promise<unknown>,
): { end: () => Promise<void> } {
  let isOver = false;
  const done = Promise.all(
    Array.from({ length: count }, async (_, first) => {
      for (let number = first; !isOver; number++) await turn(number);
    }),
  );
  done.catch(() => undefined);
  return {
    end: async () => {
      isOver = true;
      await done;
    },
  };
}
