import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  BUILT_IN,
  MERCHANT_PERMISSIONS,
  mayAssign,
  movesMoney,
  needsSecondFactor,
  permissionsOf,
  ROLES,
  type Role,
  type Roles,
  roleNamed,
  rolesWithPermissions,
} from './roles.ts';

const named = (name: string | null): Role | null => (name === null ? null : roleNamed(name, null));
const of = (name: string | null) => ({ role: named(name), installationRole: null });

test('each role has what its column says', () => {
  const table = Object.fromEntries(ROLES.map((role) => [role, permissionsOf(of(role)).join(' ')]));
  const all =
    'see see_requests create_payouts approve refund accept_payments edit_checkout edit_subscriptions edit_keys ' +
    'use_sandbox manage_users read_audit_log edit_stores';
  expect(table).toEqual({
    owner: all,
    admin: all.replace(' approve', ''),
    developer: 'see see_requests edit_checkout edit_keys use_sandbox',
    finance: 'see create_payouts refund accept_payments edit_checkout use_sandbox',
    approver: 'see approve use_sandbox',
    support: 'see see_requests refund edit_checkout edit_subscriptions use_sandbox',
    viewer: 'see',
  });
});

test('for each permission its roles are told, and of the installation alone no role of a merchant has one', () => {
  const told = rolesWithPermissions([...BUILT_IN.values()]);
  for (const role of ROLES)
    expect(Object.keys(told).filter((permission) => told[permission]?.includes(role))).toEqual(
      permissionsOf(of(role)),
    );
  expect(told).toMatchObject({ approve: ['owner', 'approver'], operate: [] });
});

test('who moves money or makes keys needs a second factor, and sessions that move money end when idle', () => {
  expect(ROLES.filter((role) => !needsSecondFactor(of(role)))).toEqual(['viewer']);
  expect(ROLES.filter((role) => !movesMoney(of(role)))).toEqual(['developer', 'viewer']);
});

test('auditors of the installation read every merchant and change nothing', () => {
  const auditor = { role: null, installationRole: 'auditor' as const };
  expect(permissionsOf(auditor)).toEqual(['see', 'see_requests', 'read_audit_log', 'see_installation']);
  expect(permissionsOf({ role: null, installationRole: null })).toEqual([]);
  expect(permissionsOf({ role: named('finance'), installationRole: 'auditor' })).toContain('create_payouts');
});

test('only owners change owners, an operator only where there is none; whoever manages nobody assigns nothing', () => {
  const changes = [...ROLES, null].flatMap((before) => [...ROLES, null].map((after) => ({ before, after })));
  for (const { before, after } of changes) {
    const concernsApproval = [before, after].some((role) => role === 'owner' || role === 'approver');
    const change = { before: named(before), after: named(after) };
    const may = (by: Roles, hasOwner = true) => mayAssign(by, { ...change, hasOwner });
    expect(may(of('owner'))).toBe(true);
    for (const hasOwner of [true, false]) {
      expect(may(of('admin'), hasOwner)).toBe(!concernsApproval);
      // A role of their own, as everybody else has it.
      expect(may({ role: named('admin'), installationRole: 'operator' }, hasOwner)).toBe(
        !concernsApproval || !hasOwner,
      );
      expect(may({ role: named('viewer'), installationRole: 'operator' }, hasOwner)).toBe(!hasOwner);
      expect(may({ role: null, installationRole: 'operator' }, hasOwner)).toBe(!hasOwner);
      expect(may({ role: null, installationRole: 'auditor' }, hasOwner)).toBe(false);
      for (const role of ['developer', 'finance', 'approver', 'support', 'viewer', null] as const)
        expect(may(of(role), hasOwner)).toBe(false);
    }
  }
});

test('nobody gives or takes what they may not do themselves, whatever roles a merchant makes', () => {
  const permissions = fc.subarray([...MERCHANT_PERMISSIONS]);
  const own = permissions.map((some) => roleNamed('own', some));
  const any = fc.oneof(own, fc.constantFrom(...BUILT_IN.values()));
  const optional = fc.option(any);
  fc.assert(
    fc.property(any, optional, optional, (by, before, after) => {
      const may = mayAssign({ role: by, installationRole: null }, { before, after, hasOwner: true });
      if (!may) return;
      expect(by.permissions).toContain('manage_users');
      for (const role of [before, after]) {
        expect(by.permissions).toEqual(expect.arrayContaining([...(role?.permissions ?? [])]));
        expect(role?.name === 'owner' && by.name !== 'owner').toBe(false);
      }
    }),
  );
});

test('what a later version permits, and the name of a built-in role, give nothing that its column has not', () => {
  expect(roleNamed('own', ['see', 'operate', 'see_installation', 'fly']).permissions).toEqual(['see']);
  expect(roleNamed('viewer', ['approve']).permissions).toEqual(['see']);
  expect(roleNamed('gone', null).permissions).toEqual([]);
});
