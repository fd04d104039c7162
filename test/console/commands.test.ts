import { expect, test } from 'vitest';
import { isSecondRun, useSandbox } from '../sandbox-of-commands.ts';

const LONG_MS = 240_000;
const { command, ask } = useSandbox();

interface Person {
  email: string;
  role: string;
  status: string;
}

test.skipIf(isSecondRun)(
  'people are invited, listed, given another role and removed, and the links are in no log',
  { timeout: LONG_MS },
  async () => {
    const email = 'ada@example.com';
    const invited = await ask<{ link_token: string }>('users', 'invite', email, '--role', 'owner');
    expect(invited.link_token).toMatch(/^http:\/\/localhost:\d+\/console\/link#[\w-]{43}$/);
    const owner = { email: 'owner@localhost', role: 'owner', status: 'active' };
    expect(await ask<Person[]>('users', 'list')).toMatchObject([
      { email, role: 'owner', status: 'invited' },
      owner,
    ]);
    expect((await command(['approvers', 'passkey', email])).stderr).toContain('has no passkey');
    expect((await command(['users', 'role', email, 'admin'])).stderr).toContain('no such user');
    expect((await command(['users', 'invite', email, '--role', 'boss'])).stderr).toContain('owner, admin');
    await ask('users', 'remove', email);
    expect(await ask<Person[]>('users', 'list')).toMatchObject([owner]);
    await ask('users', 'invite', 'ops@example.com', '--role', 'operator', '--installation');
    expect(await ask<Person[]>('users', 'list', '--installation')).toMatchObject([
      { email: 'ops@example.com', role: 'operator', status: 'invited' },
      { email: 'owner@localhost', role: 'operator', status: 'active' },
    ]);
    const { link_token: link } = await ask<{ link_token: string }>(
      'console',
      'link',
      '--email',
      'ops@example.com',
    );
    await ask('roles', 'create', 'treasurer', '--may', 'create_payouts, approve');
    expect((await command(['roles', 'create', 'pilot', '--may', 'fly'])).stderr).toContain('not fly');
    await ask('users', 'invite', email, '--role', 'treasurer');
    expect((await command(['roles', 'delete', 'treasurer'])).stderr).toContain('Somebody has this role');
    await ask('roles', 'edit', 'treasurer', '--may', 'create_payouts');
    const listedRoles = await ask<{ name: string; permissions: string }[]>('roles', 'list');
    expect(listedRoles.at(-1)).toEqual({
      name: 'treasurer',
      permissions: 'see, create_payouts',
      built_in: false,
      people: 0,
    });
    await ask('users', 'remove', email);
    await ask('roles', 'delete', 'treasurer');
    expect(await ask<object[]>('roles', 'list')).toHaveLength(7);
    expect((await command(['console', 'link', '--email', 'nobody@example.com'])).stderr).toContain('no user');
    expect(await ask('users', 'sign-out-all')).toEqual({ ended: 0 });

    const [merchant] = await ask<{ merchant_id: string }[]>('merchants', 'list');
    const logs = [
      await command(['audit', 'export', '--merchant', merchant?.merchant_id ?? '']),
      await command(['audit', 'export']),
    ].map(({ stdout }) => stdout);
    expect(logs[0]).toContain('users.invite');
    expect(logs[0]).toContain('"before":{"name":"treasurer","permissions":"see, create_payouts, approve"');
    const removed = logs[0]
      ?.split('\n')
      .flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
      .filter(({ action }) => action === 'users.remove')
      .slice(0, 2);
    expect(removed).toMatchObject([
      { phase: 'attempted', details: { before: { email, role: 'owner', status: 'invited' } } },
      { phase: 'done', details: {} },
    ]);
    expect(logs[1]).toContain('users.signInLink');
    for (const secret of [invited.link_token, link].map((text) => text.split('#')[1] ?? 'none'))
      expect(logs.join('').includes(secret)).toBe(false);
  },
);
