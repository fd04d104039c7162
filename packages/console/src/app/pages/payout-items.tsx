import type { PayoutBatch, PayoutItem } from '@florin/contract/schemas';
import { keysOf } from '@florin/contract/tables';
import { Group, Stack, Table, Text, TextInput } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { call, type Place, pathWith } from '../api.ts';
import { Action } from '../detail.tsx';
import { EditDialog } from '../edit-dialog.tsx';
import { OnChain } from '../explorer.tsx';
import type { Values } from '../form.ts';
import { Maybe, Status } from '../format.tsx';
import { useMay, usePlace } from '../place.ts';
import { ShowMore } from '../show-more.tsx';
import { Trouble } from '../trouble.tsx';

export const PAYOUT_BATCHES = '/api/v1/payout-batches';
const PAGE = 50;

/** While nothing of a batch is ordered. */
const isEditable = ({ status }: PayoutBatch) => status === 'draft' || status === 'needs_fix';

const LABELS = { address: 'Address', amount: 'Amount', real_name: 'Recipient', memo: 'Memo' };
type ItemField = keyof typeof LABELS;

/** What the service found wrong with a field of an item: its paths are `items[3].address`. */
const findingOf = ({ validation_errors }: PayoutItem, name: string) =>
  validation_errors.find(({ field }) => field.endsWith(`.${name}`))?.message;

/** Mends an item, or takes it out of its batch. */
function ItemChanges({ item, batch }: { item: PayoutItem; batch: PayoutBatch }) {
  const path = `${PAYOUT_BATCHES}/${batch.batch_id}/items/${item.item_id}`;
  const inputOf = (typed: Values<ItemField>) => ({
    network: item.network,
    ...Object.fromEntries(Object.entries(typed).filter(([, text]) => text !== '')),
  });
  return (
    <Group gap={4}>
      <EditDialog
        label="Mend"
        subject={item}
        path={path}
        labels={LABELS}
        valuesOf={({ address, amount, real_name, memo }) => ({
          address,
          amount,
          real_name: real_name ?? '',
          memo: memo ?? '',
        })}
        fields={(errorOf, values) =>
          keysOf(LABELS).map((name) => (
            <TextInput
              key={name}
              name={name}
              label={LABELS[name]}
              defaultValue={values[name]}
              error={errorOf(name) ?? findingOf(item, name)}
            />
          ))
        }
        send={(typed) => ({ path, method: 'PUT', body: inputOf(typed) })}
      />
      <Action
        label="Leave out"
        question={`Leave row ${item.index + 1} out of this batch?`}
        path={path}
        method="DELETE"
        isDangerous
      />
    </Group>
  );
}

const ItemRow = ({ item, batch, isMine }: { item: PayoutItem; batch: PayoutBatch; isMine: boolean }) => (
  <Table.Tr>
    <Table.Td data-label="Row" className="number">
      {item.index + 1}
    </Table.Td>
    <Table.Td data-label="Amount" className="number">
      {item.amount}
    </Table.Td>
    <Table.Td data-label="Status">
      <Status name={item.status} />
      {[...item.validation_errors.map(({ message }) => message), item.failure_message].map(
        (text) =>
          text !== null && (
            <Text key={text} size="sm" c="var(--bad)">
              {text}
            </Text>
          ),
      )}
    </Table.Td>
    <Table.Td data-label="Recipient">
      <Maybe>{item.real_name}</Maybe>
    </Table.Td>
    <Table.Td data-label="Address">
      {/* Who decides reads it whole: others may have an address that looks like it at both ends. */}
      <OnChain
        network={item.network}
        kind="address"
        id={item.address}
        isShort={batch.status !== 'pending_approval'}
      />
    </Table.Td>
    <Table.Td data-label={isMine ? 'Changes' : 'Transaction'}>
      {isMine ? (
        <ItemChanges item={item} batch={batch} />
      ) : (
        <Maybe>
          {item.tx_id && <OnChain network={item.network} kind="transaction" id={item.tx_id} isShort />}
        </Maybe>
      )}
    </Table.Td>
  </Table.Tr>
);

interface ItemPage {
  data: PayoutItem[];
  has_more: boolean;
}

interface PageOf {
  place: Place;
  status?: PayoutItem['status'] | undefined;
  after?: string | undefined;
  limit?: number;
  signal?: AbortSignal;
}

const readItems = (
  { batch_id }: PayoutBatch,
  { place, status, after, limit = PAGE, signal }: PageOf,
): Promise<ItemPage> =>
  call(pathWith(`${PAYOUT_BATCHES}/${batch_id}/items`, { status, limit, starting_after: after }), {
    place,
    signal,
  });

/** All items of a batch in its order, or those in a status. @throws ApiError */
export async function allItems(
  batch: PayoutBatch,
  place: Place,
  status?: PayoutItem['status'],
): Promise<PayoutItem[]> {
  const items: PayoutItem[] = [];
  for (let hasMore = true; hasMore; ) {
    const page = await readItems(batch, { place, status, after: items.at(-1)?.item_id, limit: 100 });
    items.push(...page.data);
    hasMore = page.has_more;
  }
  return items;
}

interface PayoutItemsProps {
  batch: PayoutBatch;
  /** In this status alone. */
  status?: PayoutItem['status'];
}

/** The items of a batch; while it is a draft they can be mended here. */
export function PayoutItems({ batch, status }: PayoutItemsProps) {
  const place = usePlace();
  const isMine = useMay('create_payouts') && isEditable(batch);
  const items = useInfiniteQuery({
    queryKey: ['items', place, batch, status],
    queryFn: ({ pageParam, signal }) => readItems(batch, { place, status, after: pageParam, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ data, has_more }) => (has_more ? data.at(-1)?.item_id : undefined),
    placeholderData: (before) => before,
  });
  return (
    <Stack>
      {items.error !== null && <Trouble error={items.error} retry={() => void items.refetch()} />}
      <Table className="list" aria-label="Items">
        <Table.Thead>
          <Table.Tr>
            <Table.Th className="number">Row</Table.Th>
            <Table.Th className="number">Amount</Table.Th>
            <Table.Th>Status</Table.Th>
            <Table.Th>Recipient</Table.Th>
            <Table.Th>Address</Table.Th>
            <Table.Th>{isMine ? 'Changes' : 'Transaction'}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {items.data?.pages
            .flatMap(({ data }) => data)
            .map((item) => (
              <ItemRow key={item.item_id} item={item} batch={batch} isMine={isMine} />
            ))}
        </Table.Tbody>
      </Table>
      <ShowMore pages={items} />
    </Stack>
  );
}
