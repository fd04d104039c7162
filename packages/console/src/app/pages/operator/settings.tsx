import { Code, Skeleton, Stack, Text, TextInput, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { call } from '../../api.ts';
import { Section } from '../../detail.tsx';
import { IsoTime, numbered, settingText } from '../../format.tsx';
import { useKeys } from '../../keyboard.ts';
import { type Column, NothingFits, Rows } from '../../list.tsx';
import { useFilters, usePlace } from '../../place.ts';
import { Trouble } from '../../trouble.tsx';
import { OPERATOR } from './place.ts';

const PATH = `${OPERATOR}/settings`;
const REFRESH_MS = 15_000;

interface Setting {
  name: string;
  description: string;
  sandbox: string;
  live: string;
  source: 'default' | 'database';
  merchants: number;
  changed_by: string | null;
  changed_at: string | null;
}

interface ProcessSetting {
  name: string;
  flag: string;
  description: string;
  value: string | null;
  is_secret: boolean;
  source: 'default' | 'environment' | 'flag';
}

const Named = ({ name, description }: { name: string; description: string }) => (
  <>
    <Code className="id">{name}</Code>
    <Text size="sm">{description}</Text>
  </>
);

const Value = ({ text }: { text: string }) => (
  <span className={text === '' ? undefined : 'id'}>{settingText(text)}</span>
);

const COLUMNS: readonly Column<Setting>[] = [
  { title: 'Setting', cell: Named },
  {
    title: 'Value',
    cell: ({ sandbox, live }) =>
      sandbox === live ? (
        <Value text={live} />
      ) : (
        <>
          <div>
            live: <Value text={live} />
          </div>
          <div>
            sandbox: <Value text={sandbox} />
          </div>
        </>
      ),
  },
  {
    title: 'From',
    cell: ({ source, merchants }) => (
      <>
        <span className="whole">{source}</span>
        {merchants > 0 && (
          <Text size="xs" c="var(--plain)">
            {numbered(merchants, 'merchant has its own', 'merchants have their own')}
          </Text>
        )}
      </>
    ),
  },
  {
    title: 'Changed',
    cell: ({ changed_at, changed_by }) =>
      changed_at === null ? (
        '–'
      ) : (
        <>
          <IsoTime at={changed_at} />
          <Text size="xs" c="var(--plain)" className="id">
            by {changed_by}
          </Text>
        </>
      ),
  },
];

const given = ({ value, is_secret, source }: ProcessSetting) => {
  if (source === 'default') return <Text c="var(--plain)">not set</Text>;
  return is_secret ? 'set' : <Value text={value ?? ''} />;
};

const PROCESS_COLUMNS: readonly Column<ProcessSetting>[] = [
  { title: 'Setting', cell: Named },
  { title: 'Value', cell: given },
  {
    title: 'From',
    cell: ({ source, flag }) => (source === 'flag' ? <Code>{flag}</Code> : source),
  },
];

interface TablesProps {
  data: Setting[];
  process: ProcessSetting[];
  words: string;
  clear: () => void;
}

function Tables({ data, process, words, clear }: TablesProps) {
  const place = usePlace();
  const fits = ({ name, description }: { name: string; description: string }) =>
    `${name} ${description}`.toLowerCase().includes(words.toLowerCase());
  const [settings, ofProcess] = [data.filter(fits), process.filter(fits)];
  if (settings.length + ofProcess.length === 0) return <NothingFits clear={clear} />;
  return (
    <>
      {settings.length > 0 && (
        <Section title="In the database">
          <Text size="sm">
            They hold at once, on every node. Whoever has the database changes them:{' '}
            <Code>florin settings set NAME VALUE</Code>, with <Code>--merchant</Code> for one merchant alone.
            Every change is in the{' '}
            <Link to="/operator/audit" search={{ action: 'settings.set' }}>
              audit log
            </Link>
            .
          </Text>
          <Rows
            definition={{ title: 'In the database', columns: COLUMNS, idOf: ({ name }) => name }}
            rows={settings}
            place={place}
          />
        </Section>
      )}
      {ofProcess.length > 0 && (
        <Section title="Of the process that answered">
          <Text size="sm">
            Each process has its own, from its start to its end. What is not set has the default that its
            description names. Secrets are never shown.
          </Text>
          <Rows
            definition={{
              title: 'Of the process that answered',
              columns: PROCESS_COLUMNS,
              idOf: ({ name }) => name,
            }}
            rows={ofProcess}
            place={place}
          />
        </Section>
      )}
    </>
  );
}

/** Every setting of the installation: its value, where that comes from, and who changed it. */
export function SettingsPage() {
  const [words, setWords] = useState(useFilters().q ?? '');
  const navigate = useNavigate();
  const look = (value: string) => {
    setWords(value);
    void navigate({ to: '.', search: () => (value === '' ? {} : { q: value }), replace: true });
  };
  const field = useRef<HTMLInputElement>(null);
  useKeys({ '/': () => field.current?.focus() });
  const query = useQuery({
    queryKey: ['whole', PATH],
    queryFn: ({ signal }) => call<{ data: Setting[]; process: ProcessSetting[] }>(PATH, { signal }),
    refetchInterval: REFRESH_MS,
  });
  return (
    <Stack>
      <Title order={1} size="h2">
        Settings
      </Title>
      <search>
        <TextInput
          ref={field}
          label="Name or a word"
          value={words}
          autoComplete="off"
          maxLength={100}
          onChange={({ currentTarget: { value } }) => look(value)}
        />
      </search>
      {query.error !== null && <Trouble error={query.error} retry={() => void query.refetch()} />}
      {query.isPending && <Skeleton height={320} aria-label="Loading" />}
      {query.data !== undefined && <Tables {...query.data} words={words} clear={() => look('')} />}
    </Stack>
  );
}
