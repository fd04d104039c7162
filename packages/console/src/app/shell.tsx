import {
  Anchor,
  AppShell,
  Burger,
  Button,
  Group,
  Kbd,
  Modal,
  NativeSelect,
  Stack,
  Table,
  Text,
  VisuallyHidden,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, Navigate, useLocation, useNavigate } from '@tanstack/react-router';
import { Fragment, type ReactNode, useState } from 'react';
import { call } from './api.ts';
import { FactorNeeded, NotIn, Sheet } from './doors.tsx';
import { wordsOf } from './format.tsx';
import { Guard } from './guard.tsx';
import { useKeys } from './keyboard.ts';
import { useLiveUpdates } from './live.ts';
import type { Me, Membership } from './me.ts';
import { NewStore } from './new-store.tsx';
import { useAccess, useFilters, useId, usePlace } from './place.ts';
import { ProofDialog } from './proof.tsx';
import { RouteLink } from './route-link.tsx';
import { OPERATOR_SECTIONS, type SectionLink, sectionsFor } from './sections.ts';
import { lacksFactor, meQuery, storeStatus, storesQuery } from './session.ts';
import { useTitle } from './title.ts';
import { ACCOUNT, SIGN_IN } from './trouble.tsx';

/** Where an address leads without a store: to the first one of the merchant that `?merchant=` names, or of the person's first. */
export function HomePage() {
  const me = useQuery(meQuery);
  const { merchant: chosen } = useFilters();
  const access = useAccess(chosen ?? '');
  const first = access.membership ?? me.data?.merchants[0];
  const isComplete = me.data !== undefined && first !== undefined && !lacksFactor(me.data, first);
  const stores = useQuery({ ...storesQuery(first?.merchant_id ?? ''), enabled: isComplete });
  if (me.data === undefined) return <NotIn error={me.error} />;
  if (access.isPending || access.error !== null) return <NotIn error={access.error} />;
  if (first === undefined && me.data.installation_role !== null)
    return <Navigate to="/operator/health" replace />;
  if (first === undefined)
    return (
      <Sheet title="Console">
        <Text>You are signed in as {me.data.email}, and have a role with no merchant yet.</Text>
        <Anchor href={ACCOUNT}>Your account</Anchor>
        <SignOut />
      </Sheet>
    );
  if (!isComplete) return <FactorNeeded />;
  if (stores.data === undefined) return <NotIn error={stores.error} />;
  const open =
    stores.data.find(({ is_enabled }) => is_enabled) ?? (access.isVisit ? stores.data[0] : undefined);
  const store = open?.store_id;
  if (store !== undefined) return <Navigate to={`/${first.merchant_id}/${store}/home`} replace />;
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
      <Anchor href={ACCOUNT}>Your account</Anchor>
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

function Switch({ me, visited }: { me: Me; visited: Membership | undefined }) {
  const { merchant, store } = usePlace();
  const navigate = useNavigate();
  const stores = useQuery(storesQuery(merchant));
  const merchants = visited === undefined ? me.merchants : [visited, ...me.merchants];
  return (
    <Group gap="xs" wrap="nowrap" className="switch">
      {merchants.length > 1 && (
        <NativeSelect
          aria-label="Merchant"
          size="xs"
          value={merchant}
          onChange={({ currentTarget: { value } }) => void navigate({ to: '/', search: { merchant: value } })}
          data={merchants.map(({ merchant_id, name, mode }) => ({
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
          disabled: !is_enabled && visited === undefined,
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
            <RouteLink to={to} aria-current={isHere ? 'page' : undefined} onClick={done}>
              {title}
            </RouteLink>
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
  /** What the pages are of, unless that is a store. */
  whole?: string | undefined;
  /** Who is signed in, as what. */
  who: string;
  /** What of the merchant is shown. */
  choice?: ReactNode;
  /** The other pages that a person with both kinds of roles has. */
  elsewhere: ReactNode;
  band?: string | undefined;
}

/** Pages below one of the menu that are not those of one resource. */
const BELOW: Record<string, string> = { import: 'From a CSV', statement: 'Statement' };

/** Names the page: what the address shows, then the page of the menu that it is below. A screen reader says it when it changes. */
function PageTitle({ base, sections, whole }: Pick<FrameProps, 'base' | 'sections' | 'whole'>) {
  const { pathname } = useLocation();
  const [folder, below = ''] = pathname.slice(base.length + 1).split('/');
  const section = sections.find((one) => one.folder === folder);
  const one = useId() || (BELOW[below] ?? below);
  const parts = [one, section?.title ?? '', whole ?? ''].filter((name) => name !== '');
  useTitle(...parts);
  // The first page is said by its title.
  const [first] = useState(pathname);
  const [hasLeft, setLeft] = useState(false);
  if (pathname !== first && !hasLeft) setLeft(true);
  return <VisuallyHidden aria-live="polite">{hasLeft && parts.join(', ')}</VisuallyHidden>;
}

const PAGE_ID = 'page';

/** The first stop of the keyboard: past the menu. */
const SkipLink = () => (
  <a
    className="skip"
    href={`#${PAGE_ID}`}
    onClick={(event) => {
      // The address is the router's.
      event.preventDefault();
      document.getElementById(PAGE_ID)?.focus();
    }}
  >
    Skip to the page
  </a>
);

/** Everything around a page. */
function Frame({ base, sections, whole, who, choice, elsewhere, band }: FrameProps) {
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
      <SkipLink />
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
            <Anchor href={ACCOUNT} size="sm">
              Your account
            </Anchor>
            <SignOut />
          </Stack>
        </Stack>
      </AppShell.Navbar>
      <AppShell.Main id={PAGE_ID} tabIndex={-1}>
        <PageTitle base={base} sections={sections} whole={whole} />
        {band !== undefined && <div className="band">{band}</div>}
        <Guard />
      </AppShell.Main>
      <Help isOpen={isHelpOpen} close={() => setHelpOpen(false)} />
      <ProofDialog />
    </AppShell>
  );
}

/** What a person must not overlook: whose pages these are, and that nothing is real. */
function bandOf({ name, mode, role }: Membership, isVisit: boolean): string | undefined {
  const lines = [
    ...(isVisit ? [`${name}, which you see as ${role} of the installation.`] : []),
    ...(mode === 'sandbox' ? ['Sandbox: nothing here is real money.'] : []),
  ];
  return lines.length === 0 ? undefined : lines.join(' ');
}

/** The pages of a store. */
export function Shell() {
  const me = useQuery(meQuery);
  const { merchant, store } = usePlace();
  const navigate = useNavigate();
  const { membership, isVisit, ...access } = useAccess(merchant);
  useLiveUpdates({ merchant, store });
  useKeys({ s: () => void navigate({ to: `/${merchant}/${store}/search` }) });
  if (me.data === undefined) return <NotIn error={me.error} />;
  // The service refuses an operator without a second factor, so nothing of the merchant is read before.
  if (isVisit && !me.data.second_factor) return <FactorNeeded />;
  if (access.isPending || access.error !== null) return <NotIn error={access.error} />;
  if (membership === undefined) return <Navigate to="/" replace />;
  if (lacksFactor(me.data, membership)) return <FactorNeeded />;
  return (
    <Frame
      base={`/${merchant}/${store}`}
      sections={sectionsFor(membership)}
      who={`${me.data.email}, ${membership.role}`}
      choice={<Switch me={me.data} visited={isVisit ? membership : undefined} />}
      elsewhere={
        me.data.installation_role !== null && (
          <Anchor component={Link} to="/operator/health" size="sm">
            The installation
          </Anchor>
        )
      }
      band={bandOf(membership, isVisit)}
    />
  );
}

/** The pages of the installation. */
export function OperatorShell() {
  const me = useQuery(meQuery);
  if (me.data === undefined) return <NotIn error={me.error} />;
  const { installation_role: role, second_factor, email, merchants } = me.data;
  if (role === null) return <Navigate to="/" replace />;
  if (!second_factor) return <FactorNeeded />;
  return (
    <Frame
      base="/operator"
      sections={OPERATOR_SECTIONS}
      whole="Installation"
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
