import { operator } from '../operations.ts';
import { required, text } from '../options.ts';
import { resource } from '../resource.ts';

const MAY =
  'what people with it may do beside see, by commas: see_requests, create_payouts, approve, refund, accept_payments, ' +
  'edit_checkout, edit_subscriptions, edit_keys, use_sandbox, manage_users, read_audit_log, edit_stores';
const merchant = text('--merchant <id>', 'of this merchant (needed where there are several)');
const may = required(text('--may <list>', MAY));
const wordsOf = (list: string) => list.split(',').map((word) => word.trim());
const operation = operator();

export const addRoles = resource({
  name: 'roles',
  description: 'Roles of the console’s people: the built-in ones, and those that a merchant makes for itself',
  examples: ['florin roles list', 'florin roles create treasurer --may create_payouts,approve'],
  operations: [
    operation('list', 'List roles, with what each permits', {
      options: { merchant },
      run: ({ roles }, of) => roles.list(of),
    }),
    operation('create <name>', 'Make a role of the merchant’s own', {
      examples: ['florin roles create treasurer --may create_payouts,approve'],
      options: { may, merchant },
      run: ({ roles }, { may: list, ...role }) => roles.create({ ...role, permissions: wordsOf(list) }),
    }),
    operation(
      'edit <name>',
      'Change what a role of the merchant’s own permits, for all who have it, at once',
      {
        examples: ['florin roles edit treasurer --may create_payouts'],
        options: { may, merchant },
        run: ({ roles }, { may: list, ...role }) => roles.edit({ ...role, permissions: wordsOf(list) }),
      },
    ),
    operation('delete <name>', 'Delete a role of the merchant’s own that nobody has', {
      examples: ['florin roles delete treasurer'],
      options: { merchant },
      run: ({ roles }, of) => roles.delete(of),
    }),
  ],
});
