import { Group, NativeSelect, Stack, Title } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { change } from '../../api.ts';
import { styleNonce } from '../../style-nonce.ts';
import { useStorePath } from './read-store.ts';

/** After the last key, so that not every one of them is a request. */
const AFTER_MS = 400;

/** What the form would send, with the file of a new logo in base64. */
export interface BrandChange {
  name: string;
  accent: string | null;
  support: string | null;
  terms: string | null;
  logo?: string | null;
}

/** Which page is shown: the one on which payers choose, or the last one, with its button. */
export type SamplePage = 'choose' | 'paid';

function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  const key = JSON.stringify(value);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key is the value
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), AFTER_MS);
    return () => clearTimeout(timer);
  }, [key]);
  return settled;
}

/** The payer's page with a change, as the service draws it; it also says what of the change cannot be shown. */
export function usePreview(brand: BrandChange, page: SamplePage) {
  const path = `${useStorePath()}/brand/preview`;
  const settled = useSettled(brand);
  return useQuery({
    queryKey: ['preview', path, settled, page],
    queryFn: ({ signal }) => change<{ html: string }>(path, { body: { ...settled, page }, signal }),
    placeholderData: keepPreviousData,
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** The console's own policy holds in the frame: styles carry its nonce, and nothing runs there. */
const documentIn = (html: string, scheme: string): string =>
  html
    .replace('</head>', `<style>:root{color-scheme:${scheme}}</style></head>`)
    .replaceAll('<style>', `<style nonce="${styleNonce()}">`);

interface PreviewProps {
  html: string | undefined;
  page: SamplePage;
  setPage: (page: SamplePage) => void;
}

/** A page of payers, to be looked at. */
export function Preview({ html, page, setPage }: PreviewProps) {
  const [scheme, setScheme] = useState('light');
  return (
    <Stack component="section" gap="xs" aria-label="Preview">
      <Title order={2} size="h4">
        Preview
      </Title>
      <Group gap="xs">
        <NativeSelect
          label="Page"
          value={page}
          onChange={({ currentTarget: { value } }) => setPage(value === 'paid' ? 'paid' : 'choose')}
          data={[
            { value: 'choose', label: 'how to pay' },
            { value: 'paid', label: 'paid' },
          ]}
          w="10rem"
        />
        <NativeSelect
          label="On a device that is"
          value={scheme}
          onChange={({ currentTarget: { value } }) => setScheme(value)}
          data={['light', 'dark']}
          w="10rem"
        />
      </Group>
      {html !== undefined && (
        <iframe
          className="preview"
          title="The payment page of this store, an example"
          sandbox=""
          inert
          srcDoc={documentIn(html, scheme)}
        />
      )}
    </Stack>
  );
}
