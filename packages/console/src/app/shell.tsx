import {
  Anchor,
  AppShell,
  Burger,
  Button,
  Group,
  Kbd,
  Modal,
  NativeSelect,
  NavLink,
  Stack,
  Table,
  Text,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, Navigate, Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { Fragment, type ReactNode, useState } from 'react';
import { call } from './api.ts';
import { FactorNeeded, NotIn, Sheet, SIGN_IN } from './doors.tsx';
import { wordsOf } from './format.tsx';
import { useKeys } from './keyboard.ts';
import { useLiveUpdates } from './live.ts';
import type { Me } from './me.ts';
import { NewStore } from './new-store.tsx';
import { useFilters, usePlace } from './place.ts';
import { ProofDialog } from './proof.tsx';
import { OPERATOR_SECTIONS, type SectionLink, sectionsFor } from './sections.ts';
import { lacksFactor, meQuery, storeStatus, storesQuery } from './session.ts';

/** Where an address leads without a store: to the first one of the merchant that `?merchant=` names, or of the person's first. */
export function HomePage() {
  const me = useQuery(meQuery);
  const { merchant: chosen } = useFilters();
  const merchants = me.data?.merchants ?? [];
  const first = merchants.find(({ merchant_id }) => merchant_id === chosen) ?? merchants[0];
  const isComplete = me.data !== undefined && first !== undefined && !lacksFactor(me.data, first);
  const stores = useQuery({ ...storesQuery(first?.merchant_id ?? ''), enabled: isComplete });
  if (me.error !== null) return <NotIn error={me.error} />;
  if (me.data === undefined) return null;
  if (first === undefined && me.data.installation_role !== null) return <Navigate to="/operator/health" />;
  if (first === undefined)
    return (
      <Sheet title="Florin console">
        <Text>You are signed in as {me.data.email}, and have a role with no merchant yet.</Text>
        <SignOut />
      </Sheet>
    );
  if (!isComplete) return <FactorNeeded />;
  if (stores.error !== null) return <NotIn error={stores.error} />;
  if (stores.data === undefined) return null;
  const store = stores.data.find(({ is_enabled }) => is_enabled)?.store_id;
  if (store !== undefined) return <Navigate to={`/${first.merchant_id}/${store}/home`} />;
  return (
    <Sheet title={first.name}>
      {stores.data.map((one) => (
        <Text key={one.store_id}>
          {one.name}: {wordsOf(storeStatus(one))}
        </Text>
      ))}
      <Text>None of its stores is enabled yet: whoever runs this installation reviews them.</Text>
      {first.permissions.includes('edit_stores') && <NewStore merchant={first.merchant_id} />}
      {me.data.installation_role !== null && (
        <Anchor component={Link} to="/operator/stores">
          Review stores
        </Anchor>
      )}
      <ProofDialog />
      <SignOut />
    </Sheet>
  );
}

function SignOut() {
  const signOut = async () => {
    await call('/console/api/sign-out', { method: 'POST' });
    location.assign(SIGN_IN);
  };
  return (
    <Button variant="subtle" size="compact-sm" onClick={() => void signOut()}>
      Sign out
    </Button>
  );
}

function Switch({ me }: { me: Me }) {
  const { merchant, store } = usePlace();
  const navigate = useNavigate();
  const stores = useQuery(storesQuery(merchant));
  return (
    <Group gap="xs" wrap="nowrap" className="switch">
      {me.merchants.length > 1 && (
        <NativeSelect
          aria-label="Merchant"
          size="xs"
          value={merchant}
          onChange={({ currentTarget: { value } }) => void navigate({ to: '/', search: { merchant: value } })}
          data={me.merchants.map(({ merchant_id, name, mode }) => ({
            value: merchant_id,
            label: `${name} (${mode})`,
          }))}
        />
      )}
      <NativeSelect
        aria-label="Store"
        size="xs"
        value={store}
        onChange={(event) => void navigate({ to: `/${merchant}/${event.currentTarget.value}/home` })}
        data={(stores.data ?? []).map(({ store_id, name, is_enabled }) => ({
          value: store_id,
          label: name,
          disabled: !is_enabled,
        }))}
      />
    </Group>
  );
}

const KEYS = [
  ['s', 'search this store'],
  ['/', 'filter this list'],
  ['j, k', 'next and previous row'],
  ['Enter', 'open the row'],
  ['?', 'this help'],
] as const;

const Help = ({ isOpen, close }: { isOpen: boolean; close: () => void }) => (
  <Modal opened={isOpen} onClose={close} title="Keyboard" lockScroll={false}>
    <Table>
      <Table.Tbody>
        {KEYS.map(([key, does]) => (
          <Table.Tr key={key}>
            <Table.Td>
              <Kbd>{key}</Kbd>
            </Table.Td>
            <Table.Td>{does}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </Modal>
);

function Menu({
  base,
  sections,
  done,
}: {
  base: string;
  sections: readonly SectionLink[];
  done: () => void;
}) {
  const { pathname } = useLocation();
  return (
    <nav aria-label="Pages" className="menu">
      {sections.map(({ folder, title, group }, at) => {
        const to = `${base}/${folder}`;
        const isHere = `${pathname}/`.includes(`${to}/`);
        return (
          <Fragment key={folder}>
            {group !== undefined && group !== sections[at - 1]?.group && (
              <Text size="xs" fw={600} c="var(--plain)" px="sm" pt="md">
                {group}
              </Text>
            )}
            <NavLink
              component={Link}
              to={to}
              label={title}
              active={isHere}
              aria-current={isHere ? 'page' : undefined}
              onClick={done}
            />
          </Fragment>
        );
      })}
    </nav>
  );
}

interface FrameProps {
  /** What the paths of the pages begin with. */
  base: string;
  sections: readonly SectionLink[];
  /** Who is signed in, as what. */
  who: string;
  /** What of the merchant is shown. */
  choice?: ReactNode;
  /** The other pages that a person with both kinds of roles has. */
  elsewhere: ReactNode;
  band?: string | undefined;
}

/** Everything around a page. */
function Frame({ base, sections, who, choice, elsewhere, band }: FrameProps) {
  const [isMenuOpen, setMenuOpen] = useState(false);
  const [isHelpOpen, setHelpOpen] = useState(false);
  useKeys({ '?': () => setHelpOpen(true) });
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 200, breakpoint: 'sm', collapsed: { mobile: !isMenuOpen } }}
      padding="md"
      transitionDuration={0}
    >
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger
              opened={isMenuOpen}
              onClick={() => setMenuOpen(!isMenuOpen)}
              hiddenFrom="sm"
              size="sm"
              aria-label="Menu"
            />
            <Anchor component={Link} to="/" fw={600} c="inherit">
              Florin
            </Anchor>
          </Group>
          {choice}
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs">
        <Stack justify="space-between" h="100%">
          <Menu base={base} sections={sections} done={() => setMenuOpen(false)} />
          <Stack gap={4}>
            {elsewhere}
            <Text size="xs" className="id">
              {who}
            </Text>
            <SignOut />
          </Stack>
        </Stack>
      </AppShell.Navbar>
      <AppShell.Main>
        {band !== undefined && <div className="band">{band}</div>}
        <Outlet />
      </AppShell.Main>
      <Help isOpen={isHelpOpen} close={() => setHelpOpen(false)} />
      <ProofDialog />
    </AppShell>
  );
}

/** The pages of a store. */
export function Shell() {
  const me = useQuery(meQuery);
  const { merchant, store } = usePlace();
  const navigate = useNavigate();
  useLiveUpdates({ merchant, store });
  useKeys({ s: () => void navigate({ to: `/${merchant}/${store}/search` }) });
  if (me.error !== null) return <NotIn error={me.error} />;
  if (me.data === undefined) return null;
  const membership = me.data.merchants.find(({ merchant_id }) => merchant_id === merchant);
  if (membership === undefined) return <Navigate to="/" />;
  if (lacksFactor(me.data, membership)) return <FactorNeeded />;
  return (
    <Frame
      base={`/${merchant}/${store}`}
      sections={sectionsFor(membership)}
      who={`${me.data.email}, ${membership.role}`}
      choice={<Switch me={me.data} />}
      elsewhere={
        me.data.installation_role !== null && (
          <Anchor component={Link} to="/operator/health" size="sm">
            The installation
          </Anchor>
        )
      }
      band={membership.mode === 'sandbox' ? 'Sandbox: nothing here is real money.' : undefined}
    />
  );
}

/** The pages of the installation. */
export function OperatorShell() {
  const me = useQuery(meQuery);
  if (me.error !== null) return <NotIn error={me.error} />;
  if (me.data === undefined) return null;
  const { installation_role: role, second_factor, email, merchants } = me.data;
  if (role === null) return <Navigate to="/" />;
  if (!second_factor) return <FactorNeeded />;
  return (
    <Frame
      base="/operator"
      sections={OPERATOR_SECTIONS}
      who={`${email}, ${role}`}
      elsewhere={
        merchants.length > 0 && (
          <Anchor component={Link} to="/" size="sm">
            My merchants
          </Anchor>
        )
      }
    />
  );
}
