import { hostname, userInfo } from 'node:os';
import { expect, test } from 'vitest';
import { isSecondRun, useSandbox } from '../sandbox-of-commands.ts';

const LONG_MS = 240_000;
const { command, ask } = useSandbox();

interface Entry {
  number: number;
  actor: string;
  origin: string;
  action: string;
  phase: string;
  attempt: number | null;
  details: { input?: unknown; before?: unknown; after?: unknown; result?: unknown; error?: string };
}

test.skipIf(isSecondRun)(
  'what an operator changes is in the log of its merchant or of the installation, without secrets',
  { timeout: LONG_MS },
  async () => {
    const [merchant] = await ask<{ merchant_id: string }[]>('merchants', 'list');
    const [store] = await ask<{ store_id: string }[]>('stores', 'list');
    const of = merchant?.merchant_id ?? '';
    await ask('settings', 'set', 'payouts.approval_above', '12.00');
    const key = await ask<Record<string, string>>(
      'keys',
      'create',
      store?.store_id ?? '',
      '--name',
      'Audited',
    );
    await ask('keys', 'revoke', key.key_id ?? '');
    const refused = await command(['settings', 'set', 'payouts.approval_above', 'many']);
    expect(refused.code).not.toBe(0);

    const installation = await ask<Entry[]>('audit', 'list');
    const actor = `${userInfo().username}@${hostname()}`;
    expect(installation.map(({ action, phase }) => `${action} ${phase}`).slice(0, 4)).toEqual([
      'settings.set failed',
      'settings.set attempted',
      'settings.set done',
      'settings.set attempted',
    ]);
    expect(installation[2]).toMatchObject({
      actor,
      origin: hostname(),
      details: { after: { name: 'payouts.approval_above', value: '12.00' } },
    });
    expect(installation[3]?.details.input).toEqual(['payouts.approval_above', '12.00', null]);

    const own = await ask<Entry[]>('audit', 'list', '--merchant', of);
    expect(own.map(({ action, phase }) => `${action} ${phase}`)).toEqual([
      'keys.revoke done',
      'keys.revoke attempted',
      'keys.create done',
      'keys.create attempted',
      'users.makeSandboxOwner done',
    ]);
    expect(own[0]?.details).toMatchObject({ after: { name: 'Audited', revoked_at: expect.any(String) } });
    expect(own[1]?.details).toMatchObject({ before: { name: 'Audited', revoked_at: null } });
    expect(own[2]?.details).toMatchObject({ result: { secret_key: '[redacted]', api_key: '[redacted]' } });

    const exported = await command(['audit', 'export', '--merchant', of]);
    const lines = exported.stdout.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).number)).toEqual([1, 2, 3, 4, 5]);
    for (const secret of [key.secret_key ?? '', key.api_key ?? ''])
      expect([secret.length > 20, exported.stdout.includes(secret)]).toEqual([true, false]);

    const verified = await command(['audit', 'verify']);
    expect([verified.code, verified.stdout]).toEqual([
      0,
      expect.stringContaining('Every entry is as it was'),
    ]);
    const missing = await command(['audit', 'verify', '--merchant', of, '--noted', `4:${'0'.repeat(64)}`]);
    expect([missing.code, missing.stdout]).toEqual([
      1,
      expect.stringContaining('entry 4 is not as it was noted'),
    ]);
    const wrong = await command(['audit', 'verify', '--noted', 'head']);
    expect(wrong.stderr).toContain('NUMBER:HASH');
  },
);
