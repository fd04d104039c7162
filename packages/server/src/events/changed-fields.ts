type Fields = Readonly<Record<string, unknown>>;

const differs = (a: unknown, b: unknown) => JSON.stringify(a) !== JSON.stringify(b);

/**
 * The old value of each top-level field that changed, null where the field was absent.
 *
 * @returns null for a new resource; undefined where no visible field changed, so that no event is recorded
 */
export function changedFields(before: object | null, after: object): Fields | null | undefined {
  if (before === null) return null;
  const [old, now] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  const names = new Set([...old.keys(), ...now.keys()]);
  const changed = [...names].filter((name) => differs(old.get(name), now.get(name)));
  if (changed.length === 0) return undefined;
  return Object.fromEntries(changed.map((name) => [name, old.get(name) ?? null]));
}
