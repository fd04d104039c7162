import { Stack, Title } from '@mantine/core';
import { Outlet, useLocation } from '@tanstack/react-router';
import { useMembership, usePlace } from './place.ts';
import { SECTIONS } from './sections.ts';
import { WhoMay } from './who-may.tsx';

/** The page of the address; where the person's role may not open it, who may. Pages of sandboxes say it themselves. */
export function Guard() {
  const { pathname } = useLocation();
  const { merchant, store } = usePlace();
  const membership = useMembership();
  const folder = pathname.split(`/${merchant}/${store}/`)[1]?.split('/')[0];
  const section = SECTIONS.find((one) => one.folder === folder && !('isOfSandbox' in one));
  if (membership === undefined || section === undefined || membership.permissions.includes(section.needs))
    return <Outlet />;
  return (
    <Stack>
      <Title order={1} size="h2">
        {section.title}
      </Title>
      <WhoMay permission={section.needs} merchants={[membership]} />
    </Stack>
  );
}
