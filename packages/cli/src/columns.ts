import type { Row } from './table.ts';

/** Formats Unix seconds. */
export const timeOf = (seconds: number) => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');

/** Integer fields of these names are Unix seconds. */
export const isTime = (field: string) =>
  /^(?:at|now|created|since|timestamp|due_date|.+_(?:at|start|end|anchor|until))$/.test(field);

type Field<Column extends string> = Column extends `${string}=${infer Name}` ? Name : Column;
type Fields<Columns extends string> = Columns extends `${infer First} ${infer Rest}`
  ? Field<First> | Fields<Rest>
  : Field<Columns>;
type Known<Columns extends string, Names> =
  Exclude<Fields<Columns>, Names> extends never ? unknown : `there is no ${Exclude<Fields<Columns>, Names>}`;

/**
 * Rows of the columns that are named, in that order: a field, or `title=field` under another title. Times are written
 * as such, and `computed` holds what is no field as it is.
 */
export const columnsOf =
  <T extends object>() =>
  <const Columns extends string, Computed extends string = never>(
    columns: Columns & Known<Columns, keyof T | Computed>,
    computed?: Readonly<Record<Computed, (one: T) => unknown>>,
  ) => {
    const compute: Readonly<Partial<Record<string, (one: T) => unknown>>> = computed ?? {};
    const pairs = columns.split(' ').map((column) => {
      const [title = '', field = title] = column.split('=');
      return { title, read: compute[title] ?? ((one: T) => shown(field, Reflect.get(one, field))) };
    });
    return (one: T): Row => Object.fromEntries(pairs.map(({ title, read }) => [title, read(one)]));
  };

const shown = (field: string, value: unknown) =>
  typeof value === 'number' && isTime(field) ? timeOf(value) : value;
