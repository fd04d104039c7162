import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { addInvoice, addSubscription } from '../subscriptions/rows.ts';
import { expectAccessible } from './checkout-driver.ts';
import { hasChromium } from './chromium.ts';
import { HOSTILE, useConsole } from './console-driver.ts';

const LONG_MS = 300_000;

describe.skipIf(!hasChromium())('customers in the console', () => {
  const at = useConsole();
  const { base, signIn, looks } = at;

  test('customers, subscriptions and invoices: lists that lead to one, and from one to its own', {
    timeout: LONG_MS,
  }, async () => {
    const { row, id } = await addSubscription(at.service, at.merchant, {
      customer: HOSTILE,
      description: HOSTILE,
    });
    const invoice = await addInvoice(at.service, row);
    const { page, faults } = await signIn('viewer');
    await page.goto(`${base()}/customers`);
    await page.getByRole('link', { name: HOSTILE }).waitFor();
    await looks(page, 'customers');
    await page.getByRole('link', { name: HOSTILE }).click();
    await page.getByRole('heading', { name: HOSTILE }).waitFor();
    await expectAccessible(page);
    await page.getByRole('region', { name: 'Theirs' }).getByRole('link', { name: 'Subscriptions' }).click();
    await page.locator('[data-row]').waitFor();
    await looks(page, 'subscriptions');
    await page.locator('[data-open]').click();
    await page.getByText(id, { exact: true }).waitFor();
    await page.getByRole('region', { name: 'Billed' }).getByRole('link').click();
    expect(page.url()).toContain(`subscription=${id}`);
    await looks(page, 'invoices');
    await page.locator('[data-open]').click();
    await page.getByText(invoice.id, { exact: true }).waitFor();
    await looks(page, 'invoice');
    await page.getByRole('link', { name: id }).waitFor();
    expect(await page.getByRole('button', { name: 'Charge now' }).count()).toBe(0);
    expect([faults, await page.title()]).toEqual([[], `${invoice.id} · Invoices · Florin`]);
    await page.goto(`${base()}/subscriptions/${id}`);
    await page.getByRole('region', { name: 'Billed' }).waitFor();
    expect(await page.getByRole('button', { name: /Cancel|Portal/ }).count()).toBe(0);
    await page.context().close();
    await changesAsSupport(id);
  });

  /** Somebody else changes the customer while a dialog is open. */
  async function editsMeanwhile(page: Page): Promise<void> {
    const dialog = page.getByRole('dialog');
    const { customers } = at.merchant.sdk;
    const [customer] = (await customers.list({ external_customer_id: 'customer-17' })).data;
    const id = customer?.id ?? '';
    const conflict = dialog.getByRole('alert');
    await page.getByRole('button', { name: 'Edit…' }).click();
    await dialog.getByLabel('Phone (optional)').fill('+44 20 7946 0000');
    await customers.update(id, { name: 'Ada King', description: 'pays by hand' });
    await page.keyboard.press('Enter');
    await conflict.getByText('Ada King').waitFor();
    await looks(page, 'customer-meanwhile');
    expect(await customers.retrieve(id)).not.toHaveProperty('phone');
    await conflict.getByRole('button', { name: 'Keep what I changed' }).click();
    await conflict.waitFor({ state: 'hidden' });
    expect(await dialog.getByLabel('Name (optional)').inputValue()).toBe('Ada King');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'hidden' });
    const kept = { name: 'Ada King', description: 'pays by hand', phone: '+44 20 7946 0000' };
    expect(await customers.retrieve(id)).toMatchObject(kept);
    await page.getByRole('button', { name: 'Edit…' }).click();
    await dialog.getByLabel('Name (optional)').fill('Countess of Lovelace');
    await customers.update(id, { name: 'Ada Lovelace' });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await conflict.getByRole('button', { name: 'Take theirs' }).click();
    expect(await dialog.getByLabel('Name (optional)').inputValue()).toBe('Ada Lovelace');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'hidden' });
    expect(await customers.retrieve(id)).toMatchObject({ ...kept, name: 'Ada Lovelace' });
    await page.getByRole('heading', { name: 'Ada Lovelace' }).waitFor();
  }

  /** The service saves, and its answer never comes. */
  async function losesAnswers(page: Page): Promise<void> {
    const dialog = page.getByRole('dialog');
    const { customers } = at.merchant.sdk;
    const [customer] = (await customers.list({ external_customer_id: 'customer-17' })).data;
    const nameNow = async () => (await customers.retrieve(customer?.id ?? '')).name;
    let updates = 0;
    const saveWithoutAnswer = async (name: string) => {
      await page.route('**/update', async (route) => {
        updates += 1;
        await route.fetch();
        await route.abort();
      });
      await page.getByRole('button', { name: 'Edit…' }).click();
      await dialog.getByLabel('Name (optional)').fill(name);
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.getByRole('alert').waitFor();
      expect(await nameNow()).toBe(name);
    };
    await saveWithoutAnswer('Ada Byron');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'hidden' });
    expect(updates, 'it is as it shall be, so nothing is sent').toBe(1);
    await page.unroute('**/update');

    await saveWithoutAnswer('Augusta Ada Byron');
    await page.unroute('**/update');
    await dialog.getByLabel('Name (optional)').fill('Ada Lovelace');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('cell', { name: 'Augusta Ada Byron' }).waitFor();
    await dialog.getByRole('button', { name: 'Keep what I changed' }).click();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'hidden' });
    expect(await nameNow()).toBe('Ada Lovelace');
  }

  /** Down, down and no further, up, up and no further, and into a row. */
  async function walksByKeys(page: Page): Promise<void> {
    await page.goto(`${base()}/customers`);
    const selected = page.locator('tr[aria-selected="true"]');
    await page.getByRole('link', { name: 'customer-17' }).waitFor();
    for (const [key, name] of [
      ['j', 'customer-17'],
      ['j', HOSTILE],
      ['j', HOSTILE],
      ['k', 'customer-17'],
      ['k', 'customer-17'],
      ['j', HOSTILE],
    ] as const) {
      await page.keyboard.press(key);
      await selected.filter({ hasText: name }).waitFor();
      expect(await selected.count(), `${key} to ${name}`).toBe(1);
    }
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: HOSTILE }).waitFor();
  }

  async function changesAsSupport(subscription: string): Promise<void> {
    const { page, faults } = await signIn('support');
    const dialog = page.getByRole('dialog');
    await page.goto(`${base()}/customers`);
    await page.getByRole('button', { name: 'New customer' }).click();
    await dialog.getByLabel('Your id of the customer').fill('customer-17');
    await dialog.getByLabel('Name (optional)').fill('Ada');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Ada', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Edit…' }).click();
    await dialog.getByLabel('Name (optional)').fill('');
    await page.keyboard.press('Enter');
    await dialog.getByText('This can be replaced, and not be taken away.').waitFor();
    await looks(page, 'customer-form');
    await dialog.getByLabel('Name (optional)').fill('Ada Lovelace');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Ada Lovelace' }).waitFor();
    await looks(page, 'customer');
    await editsMeanwhile(page);
    await losesAnswers(page);
    await walksByKeys(page);
    await page.goto(`${base()}/subscriptions/${subscription}`);
    await page.getByRole('button', { name: 'Portal link…' }).click();
    await dialog.getByLabel('Where the customer may go from there').fill('https://shop.example/account');
    await page.keyboard.press('Enter');
    await dialog.getByText('It is shown this once.').waitFor();
    await looks(page, 'portal-link');
    expect((await fetch(await dialog.locator('code').innerText())).status).toBe(200);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Cancel…' }).click();
    await dialog.getByText('The present period ends').waitFor();
    await looks(page, 'subscription-cancel');
    await dialog.getByRole('button', { name: 'Cancel it' }).click();
    await page.getByRole('button', { name: 'Do not cancel' }).click();
    const { cancel_at: due } = await at.merchant.sdk.subscriptions.retrieve(subscription);
    expect(due).toBeGreaterThan(at.service.app.clock.nowSeconds());
    await dialog.getByRole('button', { name: 'Do not cancel' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Do not cancel' }).waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Cancel…' }).click();
    await dialog.getByLabel('When').selectOption('now');
    await dialog.getByRole('button', { name: 'Cancel it' }).click();
    await page.getByText('canceled', { exact: true }).waitFor();
    await looks(page, 'subscription');
    expect(faults.filter((fault) => !fault.includes('ERR_FAILED'))).toEqual([]);
    await page.context().close();
  }
});
