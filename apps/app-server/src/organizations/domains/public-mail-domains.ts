/**
 * Domains under which anybody gets an address: never claimable, whatever a DNS record says. The large ones of each
 * region; a claim needs a DNS record anyway.
 */
const PUBLIC_MAIL_DOMAINS: ReadonlySet<string> = new Set(
  `126.com 139.com 163.com 189.cn aim.com alice.it aliyun.com aol.com arcor.de att.net bellsouth.net bigpond.com bluewin.ch bol.com.br btinternet.com
  centrum.cz charter.net comcast.net cox.net daum.net duck.com earthlink.net email.com fastmail.com fastmail.fm foxmail.com free.fr freenet.de gmail.com gmx.at
  gmx.ch gmx.com gmx.de gmx.net googlemail.com hanmail.net hey.com hotmail.co.uk hotmail.com hotmail.de hotmail.es hotmail.fr hotmail.it hushmail.com icloud.com
  inbox.lv inbox.ru interia.pl kakao.com laposte.net libero.it list.ru live.co.uk live.com live.de live.fr live.nl mac.com mail.com mail.de mail.ee mail.ru mailbox.org
  mailinator.com me.com msn.com naver.com ntlworld.com o2.pl onet.pl optonline.net orange.fr outlook.com outlook.de outlook.fr pm.me posteo.de proton.me
  protonmail.ch protonmail.com qq.com rambler.ru rediffmail.com rocketmail.com runbox.com sapo.pt sbcglobal.net seznam.cz sfr.fr shaw.ca sina.com sky.com sohu.com
  t-online.de telia.com terra.com.br tiscali.it tutanota.com tuta.io uol.com.br verizon.net virgilio.it virginmedia.com wanadoo.fr web.de wp.pl ya.ru yahoo.ca
  yahoo.co.in yahoo.co.jp yahoo.co.uk yahoo.com yahoo.com.au yahoo.com.br yahoo.de yahoo.es yahoo.fr yahoo.in yahoo.it yandex.com yandex.ru yeah.net ymail.com zoho.com
  zohomail.com`.split(/\s+/),
);

export function isPublicMailDomain(domain: string): boolean {
  return PUBLIC_MAIL_DOMAINS.has(domain);
}
