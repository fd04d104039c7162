import { Button, FileButton, Group, Skeleton, Stack, Text, TextInput, Title } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type ChangeEvent, type FormEvent, useState } from 'react';
import { ApiError } from '../../api.ts';
import { useChange } from '../../detail.tsx';
import { fieldOf } from '../../form.ts';
import { type Both, Meanwhile } from '../../meanwhile.tsx';
import { Trouble } from '../../trouble.tsx';
import { useUnsaved } from '../../unsaved.ts';
import { type BrandChange, Preview, type SamplePage, usePreview } from './preview.tsx';
import { type Brand, storeKey, supportText, useStore, useStorePath, type WholeStore } from './read-store.ts';

const LOGO_BYTES_MAX = 100_000;
/** Of the native field, where no colour is chosen: that of the pages themselves. */
const NO_COLOUR = '#0a58ca';

/** What stands in the form. */
interface Draft {
  name: string;
  accent: string;
  support: string;
  terms: string;
  /** In base64; null: it is taken away; undefined: it stays. */
  logo: string | null | undefined;
}

const draftOf = ({ name, accent, support, terms }: Brand): Draft => ({
  name,
  accent: accent ?? '',
  support: supportText(support) ?? '',
  terms: terms ?? '',
  logo: undefined,
});
/** What somebody has typed since, over what was saved meanwhile. */
function rebased(draft: Draft, before: Draft, after: Draft): Draft {
  const own = <Field extends keyof Draft>(field: Field): Draft[Field] =>
    draft[field] === before[field] ? after[field] : draft[field];
  return {
    name: own('name'),
    accent: own('accent'),
    support: own('support'),
    terms: own('terms'),
    logo: own('logo'),
  };
}
const orNull = (text: string): string | null => (text.trim() === '' ? null : text.trim());
const changeOf = ({ name, accent, support, terms, logo }: Draft): BrandChange => ({
  name,
  accent: orNull(accent),
  support: orNull(support),
  terms: orNull(terms),
  ...(logo === undefined ? {} : { logo }),
});
const brandOf = ({ name, accent, support, terms, logo_id }: Brand): Brand => ({
  name,
  accent,
  support,
  terms,
  logo_id,
});
const isSame = (one: object, other: object) => JSON.stringify(one) === JSON.stringify(other);

const logoText = (logo: string | null | undefined, id: string | null): string => {
  if (logo === undefined) return id === null ? 'none' : 'as it was';
  return logo === null ? 'none' : 'a new one';
};

/** What two people have changed. */
function bothOf(seen: Brand, saved: Brand, draft: Draft): Both[] {
  const [before, after] = [draftOf(seen), draftOf(saved)];
  const logoOf = (id: string | null) =>
    id === null ? 'none' : id === seen.logo_id ? 'as it was' : 'a new one';
  const texts = [
    ['Name', 'name'],
    ['Colour', 'accent'],
    ['Support', 'support'],
    ['Terms', 'terms'],
  ] as const;
  return [
    ...texts.map(([what, field]) => ({
      what,
      before: before[field],
      theirs: after[field],
      mine: draft[field],
    })),
    {
      what: 'Logo',
      before: logoOf(seen.logo_id),
      theirs: logoOf(saved.logo_id),
      mine: logoText(draft.logo, seen.logo_id),
    },
  ];
}

async function base64Of(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}

interface LogoProps {
  text: string;
  hasLogo: boolean;
  error: string | undefined;
  set: (logo: string | null) => void;
}

function LogoField({ text, hasLogo, error, set }: LogoProps) {
  const [failure, setFailure] = useState<string>();
  const choose = async (file: File | null) => {
    if (file === null) return;
    const isLarge = file.size > LOGO_BYTES_MAX;
    setFailure(
      isLarge ? `The file has ${Math.ceil(file.size / 1_000)} kB; at most 100 kB are taken.` : undefined,
    );
    if (!isLarge) set(await base64Of(file));
  };
  const wrong = failure ?? error;
  return (
    <Stack gap={4} role="group" aria-label="Logo">
      <Text size="sm" fw={500}>
        Logo: {text}
      </Text>
      <Text size="xs" c="var(--plain)">
        A PNG, or an SVG of shapes, of at most 100 kB. It is drawn 40 pixels high.
      </Text>
      <Group gap="xs">
        <FileButton onChange={(file) => void choose(file)} accept="image/png,image/svg+xml">
          {(props) => (
            <Button variant="default" size="xs" {...props}>
              Choose a file
            </Button>
          )}
        </FileButton>
        {hasLogo && (
          <Button variant="default" size="xs" onClick={() => set(null)}>
            Take the logo away
          </Button>
        )}
      </Group>
      {wrong !== undefined && (
        <Text size="xs" c="var(--bad)" role="alert">
          {wrong}
        </Text>
      )}
    </Stack>
  );
}

interface FieldsProps {
  draft: Draft;
  saved: Brand;
  set: (part: Partial<Draft>) => void;
  errorOf: (name: string) => string | undefined;
}

const Fields = ({ draft, saved, set, errorOf }: FieldsProps) => {
  const field = (name: 'name' | 'accent' | 'support' | 'terms') => ({
    value: draft[name],
    onChange: ({ currentTarget: { value } }: ChangeEvent<HTMLInputElement>) => set({ [name]: value }),
    error: errorOf(name),
    autoComplete: 'off',
  });
  return (
    <>
      <TextInput label="Name, as payers see it" {...field('name')} maxLength={256} required />
      <LogoField
        text={logoText(draft.logo, saved.logo_id)}
        hasLogo={draft.logo === undefined ? saved.logo_id !== null : draft.logo !== null}
        error={errorOf('logo')}
        set={(logo) => set({ logo })}
      />
      <Group align="end" gap="xs" wrap="nowrap">
        <TextInput
          label="Colour"
          description="Such as #0a58ca. Pages make it darker or lighter until every text in it can be read."
          {...field('accent')}
          maxLength={64}
          style={{ flex: 1 }}
        />
        <input
          type="color"
          className="colour"
          aria-label="Choose the colour"
          value={/^#[0-9a-f]{6}$/i.test(draft.accent) ? draft.accent : NO_COLOUR}
          onChange={({ currentTarget: { value } }) => set({ accent: value })}
        />
      </Group>
      <TextInput
        label="Where payers reach you"
        description="An e-mail address, or a link that begins with https://."
        {...field('support')}
        maxLength={500}
      />
      <TextInput label="Link to your terms" {...field('terms')} maxLength={500} />
    </>
  );
};

const PARAMS = ['name', 'logo', 'accent', 'support', 'terms'];

function Form({ saved }: { saved: Brand }) {
  const storePath = useStorePath();
  const client = useQueryClient();
  const path = `${storePath}/brand`;
  const [seen, setSeen] = useState(saved);
  const [draft, setDraft] = useState(() => draftOf(saved));
  const [isSaved, setSaved] = useState(false);
  const isChanged = !isSame(draft, draftOf(seen));
  const isOutdated = !isSame(seen, saved);
  useUnsaved(() => isChanged);
  const take = () => {
    setSeen(saved);
    setDraft(draftOf(saved));
  };
  // Nothing was typed that could be lost.
  if (isOutdated && !isChanged) take();
  const [page, setPage] = useState<SamplePage>('choose');
  const preview = usePreview(changeOf(draft), page);
  const { mutate, isPending, error, reset } = useChange((change: BrandChange) => ({
    path,
    method: 'PUT',
    body: { ...change, seen },
  }));
  const set = (part: Partial<Draft>) => {
    setSaved(false);
    reset();
    setDraft((before) => ({ ...before, ...part }));
  };
  const wrong = error ?? preview.error;
  const beside = fieldOf(wrong, PARAMS);
  const errorOf = (name: string) => (name === beside ? wrong?.message : undefined);
  const isConflict = error instanceof ApiError && error.status === 409;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    // What was saved is what was seen now, whether or not the page could be read again.
    const onSuccess = (answer: unknown) => {
      const now = brandOf(answer as Brand);
      client.setQueryData<WholeStore>(storeKey(storePath), (store) => store && { ...store, ...now });
      setSeen(now);
      setDraft((typed) => rebased(typed, draft, draftOf(now)));
      setSaved(true);
    };
    mutate(changeOf(draft), { onSuccess });
  };
  const keep = () => {
    setSeen(saved);
    setDraft(rebased(draft, draftOf(seen), draftOf(saved)));
    reset();
  };
  return (
    <div className="tiles">
      <form onSubmit={submit}>
        <Stack>
          {isOutdated && !isPending && (
            <Meanwhile rows={bothOf(seen, saved, draft)} take={take} keep={keep} />
          )}
          <Fields draft={draft} saved={saved} set={set} errorOf={errorOf} />
          {wrong !== null && beside === undefined && !(isConflict && isOutdated) && <Trouble error={wrong} />}
          <Group>
            <Button type="submit" loading={isPending} disabled={!isChanged || isOutdated}>
              Save
            </Button>
            {isSaved && <Text role="status">Saved: pages show it now.</Text>}
          </Group>
        </Stack>
      </form>
      <Preview html={preview.data?.html} page={page} setPage={setPage} />
    </div>
  );
}

/** How the store presents itself to payers, with the page that they would see. */
export function BrandingPage() {
  const query = useStore();
  return (
    <Stack>
      <Title order={1} size="h2">
        Branding
      </Title>
      {query.error !== null && <Trouble error={query.error} retry={() => void query.refetch()} />}
      {query.isPending && <Skeleton height={320} aria-label="Loading" />}
      {query.data !== undefined && <Form key={query.data.store_id} saved={brandOf(query.data)} />}
    </Stack>
  );
}
