import { Link } from '@tanstack/react-router';
import { CopyId, IsoTime, Status } from '../format.tsx';
import type { Column } from '../list.tsx';
import type { Store } from '../me.ts';
import { NewStore } from '../new-store.tsx';
import { useMay, usePlace } from '../place.ts';
import { storeStatus } from '../session.ts';
import { WholeList } from '../whole-list.tsx';

const columnsFor = (merchant: string, mayEdit: boolean): Column<Store>[] => [
  {
    title: 'Name',
    cell: ({ name, store_id }) =>
      mayEdit ? <Link to={`/${merchant}/${store_id}/settings`}>{name}</Link> : name,
  },
  { title: 'Status', cell: (store) => <Status name={storeStatus(store)} /> },
  { title: 'Channel', cell: ({ channel_type }) => channel_type },
  { title: 'Created', cell: ({ created_at }) => <IsoTime at={created_at} /> },
  { title: 'Id', cell: ({ store_id }) => <CopyId id={store_id} isShort /> },
];

/** The stores of the merchant: who runs this installation reviews new ones. */
export function StoresPage() {
  const { merchant } = usePlace();
  const mayEdit = useMay('edit_stores');
  return (
    <WholeList
      title="Stores"
      path={`/console/api/merchants/${merchant}/stores`}
      idOf={({ store_id }) => store_id}
      columns={columnsFor(merchant, mayEdit)}
      actions={mayEdit && <NewStore merchant={merchant} />}
      empty="No stores yet."
    />
  );
}
