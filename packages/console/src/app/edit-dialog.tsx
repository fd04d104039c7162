import { keysOf } from '@florin/contract/tables';
import { Fragment, type ReactNode, useState } from 'react';
import { call, PageError } from './api.ts';
import type { Sent } from './detail.tsx';
import { textsOf, type Values } from './form.ts';
import { type ErrorOf, FormDialog } from './form-dialog.tsx';
import { Meanwhile } from './meanwhile.tsx';
import { usePlace } from './place.ts';

interface EditDialogProps<T, Name extends string> {
  label: string;
  title?: string;
  /** What is changed, as the page shows it now. */
  subject: T;
  /** Where the API answers it. */
  path: string;
  /** What the fields are called, by their names. */
  labels: Values<Name>;
  valuesOf: (subject: T) => Values<Name>;
  /** What somebody typed; by default the text of each field. */
  typedIn?: (fields: FormData) => Values<Name>;
  fields: (errorOf: ErrorOf, values: Values<Name>) => ReactNode;
  /** @param before what was there when the person began */
  send: (typed: Values<Name>, before: Values<Name>) => Sent;
}

interface Conflict<Name extends string> {
  theirs: Values<Name>;
  mine: Values<Name>;
}

/** Not a field: what is said of it stands above all of them. */
const MEANWHILE = 'meanwhile';

/**
 * Changes something that others may change as well, in a dialog. It is read once more before anything is sent: where it is no longer
 * as it was when the dialog was opened, nothing is sent, and both are shown.
 */
export function EditDialog<T, Name extends string>({
  label,
  title = label,
  subject,
  path,
  labels,
  valuesOf,
  fields,
  send,
  typedIn,
}: EditDialogProps<T, Name>) {
  const place = usePlace();
  const names = keysOf(labels);
  const [before, setBefore] = useState(() => valuesOf(subject));
  const [conflict, setConflict] = useState<Conflict<Name>>();
  // What the fields begin with, anew with each number.
  const [first, setFirst] = useState({ values: before, round: 0 });
  const begin = (there: Values<Name>, shown = there) => {
    setBefore(there);
    setFirst(({ round }) => ({ values: shown, round: round + 1 }));
    setConflict(undefined);
  };
  const isSame = (one: Values<Name>, other: Values<Name>) => names.every((name) => one[name] === other[name]);
  /** Mine where I changed something, else theirs. */
  const merged = ({ theirs, mine }: Conflict<Name>) =>
    Object.fromEntries(
      names.map((name) => [name, mine[name] === before[name] ? theirs[name] : mine[name]]),
    ) as Values<Name>;
  return (
    <FormDialog
      label={label}
      title={title}
      submit="Save"
      names={[...names, MEANWHILE]}
      opened={() => begin(valuesOf(subject))}
      fields={(errorOf) => (
        <Fragment key={first.round}>
          {conflict !== undefined && (
            <Meanwhile
              rows={names.map((name) => ({
                what: labels[name],
                before: before[name],
                theirs: conflict.theirs[name],
                mine: conflict.mine[name],
              }))}
              take={() => begin(conflict.theirs)}
              keep={() => begin(conflict.theirs, merged(conflict))}
            />
          )}
          {fields(errorOf, first.values)}
        </Fragment>
      )}
      send={async (given) => {
        const mine = typedIn?.(given) ?? textsOf(given, names);
        const theirs = valuesOf(await call<T>(path, { place }));
        if (isSame(theirs, before)) {
          // With a key of its own each time: what is sent may differ from what was sent before, and says how it shall be, so
          // that twice does no harm.
          return { ...send(mine, before), idempotencyKey: crypto.randomUUID() };
        }
        // It is already as it shall be: both wanted the same, or an answer was lost.
        if (isSame(theirs, mine)) return undefined;
        setConflict({ theirs, mine });
        throw new PageError('Somebody changed this meanwhile.', MEANWHILE);
      }}
    />
  );
}
