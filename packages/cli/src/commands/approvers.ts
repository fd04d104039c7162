import { operator, resource } from '../operations.ts';
import { text } from '../parameters.ts';

const options = { merchant: text('--merchant <id>', 'their merchant; needed where there are several') };

export const addApprovers = resource({
  name: 'approvers',
  description: 'People who may approve payout batches and refunds of a merchant',
  examples: ['florin approvers add "Ada Lovelace"', 'florin approvers list'],
  operations: [
    operator('add <name>', 'Register a person and show the token, once', {
      options,
      call: ({ approvers }, { name, merchant }) => approvers.add(name, merchant),
      note: 'Give the token to that person now: it is not shown again.',
    }),
    operator('list', 'List registered approvers', {
      options,
      call: ({ approvers }, { merchant }) => approvers.list(merchant),
    }),
    operator('remove <name>', 'Take the right to approve away; approvals already given stay', {
      options,
      call: ({ approvers }, { name, merchant }) => approvers.remove(name, merchant),
    }),
  ],
});
