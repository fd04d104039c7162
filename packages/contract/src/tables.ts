/**
 * The keys of a table whose type names them all, typed as such. `Object.keys` alone forgets them, as a value may have more
 * keys than its type: use this for tables that are written out where they are declared.
 *
 * @example keysOf({ now: 'now', none: 'none' }) // ('now' | 'none')[]
 */
export const keysOf = <Key extends string>(table: Readonly<Record<Key, unknown>>): Key[] =>
  Object.keys(table) as Key[];

/**
 * A table with a value for each of these keys.
 *
 * @example tableOf(['erc20', 'spl'], (network) => network.length) // { erc20: 5, spl: 3 }
 */
export const tableOf = <Key extends string, Value>(
  keys: readonly Key[],
  valueFor: (key: Key) => Value,
): Record<Key, Value> => Object.fromEntries(keys.map((key) => [key, valueFor(key)])) as Record<Key, Value>;
