import { describe, expect, test } from 'vitest';
import * as ownRoles from '../../packages/server/src/console/accounts/own-roles/index.ts';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import { hasChromium } from './chromium.ts';
import { useConsole } from './console-driver.ts';

const LONG_MS = 300_000;

describe.skipIf(!hasChromium())('roles that a merchant makes for itself, in the console', () => {
  const at = useConsole();
  const { base, signIn, looks } = at;

  test('roles: one of the merchant’s own is made, given, edited under its people and deleted', {
    timeout: LONG_MS,
  }, async () => {
    const { page, faults } = await signIn('owner');
    await page.goto(`${base()}/roles`);
    await page.getByRole('cell', { name: 'built in' }).first().waitFor();
    await page.getByRole('button', { name: 'New role' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Night Shift');
    await dialog.getByLabel('Refund payments').check();
    await dialog.getByRole('button', { name: 'Make the role' }).click();
    await dialog.getByText('2 to 32 lower-case letters').waitFor();
    await looks(page, 'roles-new');
    expect(await dialog.getByLabel('Refund payments').isChecked()).toBe(true);
    await dialog.getByLabel('Name').fill('night-shift');
    await dialog.getByRole('button', { name: 'Make the role' }).click();
    const row = page.getByRole('row', { name: /night-shift/ });
    await row.getByText('see, refund').waitFor();
    const night = await signIn('night-shift');
    await night.page.goto(`${base()}/keys`);
    await night.page.getByText(/You are night-shift of/).waitFor();
    await page.reload();
    await row.getByRole('cell', { name: '1', exact: true }).waitFor();
    expect(await row.getByRole('button', { name: 'Delete' }).count()).toBe(0);
    await row.getByRole('button', { name: 'Edit' }).click();
    await dialog.getByText('One person has this role').waitFor();
    await dialog.getByLabel(/Make API keys/).check();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await row.getByText('see, refund, keys and webhooks').waitFor();
    await looks(page, 'roles');
    await night.page.reload();
    await night.page.getByRole('heading', { name: 'API keys' }).waitFor();
    await night.page.context().close();
    await page.goto(`${base()}/team`);
    await page.getByRole('row', { name: night.email }).getByRole('button', { name: 'Change role' }).click();
    await dialog.getByLabel('Role').selectOption('viewer');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row', { name: night.email }).getByText('viewer').waitFor();
    await page.goto(`${base()}/roles`);
    await row.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await row.waitFor({ state: 'hidden' });
    expect(faults.filter((fault) => !fault.includes('status of 400'))).toEqual([]);
    await page.context().close();
  });

  test('an operator who edits a role takes nothing away that their own role has not', {
    timeout: LONG_MS,
  }, async () => {
    const { merchantId, storeId } = await at.service.createMerchant();
    const name = 'treasurer';
    await ownRoles.createRole(at.service.app, {
      merchantId,
      name,
      permissions: ['create_payouts', 'approve'],
    });
    const { page, faults } = await signIn('operator');
    const place = `${encodeId('merchant', merchantId)}/${encodeId('store', storeId)}`;
    await page.goto(new URL(`/console/${place}/roles`, base()).href);
    await page
      .getByRole('row', { name: /treasurer/ })
      .getByRole('button', { name: 'Edit' })
      .click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(/See the request log/).check();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('see, request log, create payouts, approve').waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  });
});
