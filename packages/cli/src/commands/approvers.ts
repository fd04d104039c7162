import { operator, resource } from '../operations.ts';
import { text } from '../options.ts';

const options = { merchant: text('--merchant <id>', 'their merchant; needed where there are several') };

const operation = operator();

export const addApprovers = resource({
  name: 'approvers',
  description: 'People who may approve payout batches and refunds of a merchant',
  examples: ['florin approvers add "Ada Lovelace"', 'florin approvers list'],
  operations: [
    operation('add <name>', 'Register a person and show the token, once', {
      options,
      run: ({ approvers }, { name, merchant }) => approvers.add(name, merchant),
      note: 'Give the token to that person now: it is not shown again.',
    }),
    operation('list', 'List registered approvers', {
      options,
      run: ({ approvers }, { merchant }) => approvers.list(merchant),
    }),
    operation('remove <name>', 'Remove an approver; approvals already given stay', {
      options,
      run: ({ approvers }, { name, merchant }) => approvers.remove(name, merchant),
    }),
  ],
});
