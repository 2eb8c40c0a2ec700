import { useTranslations } from 'next-intl';
import { useLayoutEffect } from 'react';
import { useWaitingCount } from './desk-context.tsx';

/** Puts the number of decisions before the page's name, `(3) Desk · Slipway`; leaves names of other pages alone. */
export function useDeskTitle(): void {
  const t = useTranslations();
  const count = useWaitingCount();
  const name = t('common.desk');
  useLayoutEffect(() => {
    const put = () => {
      const plain = document.title.replace(/^\(\d+\) /, '');
      const wanted = count === 0 ? plain : `(${count}) ${plain}`;
      if (plain.startsWith(`${name} `) && document.title !== wanted) document.title = wanted;
    };
    put();
    // The name comes after the page when that is streamed.
    const watch = new MutationObserver(put);
    watch.observe(document.head, { childList: true, subtree: true, characterData: true });
    return () => watch.disconnect();
  }, [count, name]);
}
