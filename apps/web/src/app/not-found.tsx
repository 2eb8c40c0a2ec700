import { Button, EmptyState } from '@slipway/ui';
import Link from 'next/link';

export const metadata = { title: 'Not found' };

export default function NotFound() {
  return (
    <main className="grid h-dvh place-items-center">
      <EmptyState
        page
        title="There is nothing at this address"
        action={
          <Button asChild>
            <Link href="/">Go home</Link>
          </Button>
        }
      >
        It may have been deleted, or belong to another organization.
      </EmptyState>
    </main>
  );
}
