import { Anchor, Button, CloseButton, Group, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { textOf } from './form.ts';
import { usePlace } from './place.ts';

/** A person's settings of one list, in the browser's local storage. */
interface Kept {
  /** Titles of hidden columns. */
  hidden: readonly string[];
  views: readonly View[];
}
/** Filters under a name. */
interface View {
  name: string;
  filters: Record<string, string>;
}

const NAME_MAX = 60;
const isText = (value: unknown): value is string => typeof value === 'string';
const isView = (value: unknown): value is View =>
  typeof value === 'object' &&
  value !== null &&
  'name' in value &&
  isText(value.name) &&
  'filters' in value &&
  typeof value.filters === 'object' &&
  value.filters !== null &&
  Object.values(value.filters).every(isText);

/** Ignores entries of the wrong shape, as another version may have written them. */
function readKept(key: string): Kept {
  try {
    const { hidden, views } = JSON.parse(localStorage.getItem(key) ?? '{}');
    return {
      hidden: Array.isArray(hidden) ? hidden.filter(isText) : [],
      views: Array.isArray(views) ? views.filter(isView) : [],
    };
  } catch {
    return { hidden: [], views: [] };
  }
}

/** The columns that are shown of a list and the filters that were kept for it, for each merchant. */
export function useViews(list: string) {
  const { merchant } = usePlace();
  const key = `florin ${merchant} ${list}`;
  const [changed, setChanged] = useState<{ key: string; kept: Kept }>();
  const kept = changed?.key === key ? changed.kept : readKept(key);
  const keep = (next: Kept) => {
    setChanged({ key, kept: next });
    try {
      localStorage.setItem(key, JSON.stringify(next));
    } catch {
      // The browser keeps nothing: it lasts as long as the page.
    }
  };
  return {
    ...kept,
    toggle: (title: string) =>
      keep({
        ...kept,
        hidden: kept.hidden.includes(title)
          ? kept.hidden.filter((one) => one !== title)
          : [...kept.hidden, title],
      }),
    save: (view: View) =>
      keep({ ...kept, views: [...kept.views.filter(({ name }) => name !== view.name), view] }),
    forget: (name: string) => keep({ ...kept, views: kept.views.filter((one) => one.name !== name) }),
  };
}

interface ViewsProps {
  own: ReturnType<typeof useViews>;
  /** Titles of the columns; the first one leads to the row and stays. */
  columns: readonly string[];
  filters: Record<string, string>;
  show: (filters: Record<string, string>) => void;
}

function Panel({ own, columns, filters, show }: ViewsProps) {
  const save = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const name = textOf(new FormData(form), 'view').trim();
    if (name === '') return;
    own.save({ name, filters });
    form.reset();
  };
  return (
    <Stack gap="sm" className="panel">
      <fieldset>
        <legend>Columns</legend>
        {columns.slice(1).map((title) => (
          <label key={title}>
            <input type="checkbox" checked={!own.hidden.includes(title)} onChange={() => own.toggle(title)} />
            {title}
          </label>
        ))}
      </fieldset>
      {own.views.length > 0 && (
        <Stack gap={4} component="section" aria-label="Kept filters">
          <Text size="sm" fw={500}>
            Kept filters
          </Text>
          {own.views.map((view) => (
            <Group key={view.name} justify="space-between" wrap="nowrap">
              <Anchor
                component="button"
                type="button"
                size="sm"
                className="id"
                ta="left"
                onClick={() => show(view.filters)}
              >
                {view.name}
              </Anchor>
              <CloseButton
                size="sm"
                aria-label={`Forget ${view.name}`}
                onClick={() => own.forget(view.name)}
              />
            </Group>
          ))}
        </Stack>
      )}
      <form onSubmit={save}>
        <Group align="end" gap="xs" wrap="nowrap">
          <TextInput
            name="view"
            label="Keep these filters as"
            size="xs"
            maxLength={NAME_MAX}
            autoComplete="off"
            required
            withAsterisk={false}
          />
          <Button type="submit" size="xs" variant="default">
            Keep
          </Button>
        </Group>
      </form>
    </Stack>
  );
}

/** Which columns a list has, and filters that are kept under a name. */
export function Views(props: ViewsProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="views" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>View</summary>
      {isOpen && <Panel {...props} />}
    </details>
  );
}
