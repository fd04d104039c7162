import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { isSecondRun, useSandbox } from './sandbox-of-commands.ts';

const LONG_MS = 240_000;

const { ask, command, dataDir } = useSandbox();

test.skipIf(isSecondRun)(
  'a store gets its name, logo, colour and contact by one command each, and what cannot be shown is refused in one line',
  async () => {
    const [store] = await ask<{ store_id: string }[]>('stores', 'list');
    const id = store?.store_id ?? '';
    const file = path.join(dataDir(), 'logo.svg');
    writeFileSync(
      file,
      '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 2 1"><path d="M0 0h2v1z"/></svg>',
    );
    expect(await ask('stores', 'logo', id, file)).toMatchObject({ logo: expect.stringContaining(id) });
    expect(await ask('stores', 'accent', id, '#0A58CA')).toMatchObject({ accent: '#0a58ca' });
    expect(await ask('stores', 'support', id, 'help@shop.example')).toMatchObject({
      support: 'mailto:help@shop.example',
    });
    expect(await ask('stores', 'terms', id, 'https://shop.example/terms')).toMatchObject({
      terms: 'https://shop.example/terms',
    });
    writeFileSync(
      file,
      '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><script>alert(1)</script></svg>',
    );
    expect((await command(['stores', 'logo', id, file])).stderr).toBe(
      'florin: The logo has <script>, which a logo may not: only shapes are drawn.\n',
    );
    expect((await command(['stores', 'logo', id, `${file}.gone`])).stderr).toMatch(
      /^florin: .*cannot be read.*\n$/,
    );
    expect((await command(['stores', 'terms', id, 'http://shop.example'])).stderr).toMatch(
      /^florin: terms must be.*\n$/,
    );
    expect(await command(['stores', 'accent', id])).toMatchObject({ code: 2 });
    for (const one of ['logo', 'accent', 'support', 'terms'])
      expect(await ask('stores', one, id, '--remove')).toMatchObject({ [one]: null });
  },
  LONG_MS,
);
