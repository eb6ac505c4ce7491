import { lazy, Suspense, useEffect, useMemo, useRef } from "react";
import { Provider } from "urql";
import { Redirect, Route, Switch, useLocation } from "wouter";
import { openClient } from "../data/graphql/client";
import { useSession } from "../data/session/session";
import { Missing } from "../parts/page/Missing";
import { Waiting } from "../parts/page/Waiting";
import { Boundary } from "./Boundary";
import { Shell } from "./Shell";

const screens = {
  Account: lazy(() => import("../screens/settings/Account")),
  Aside: lazy(() => import("../screens/settings/Aside")),
  EditGroup: lazy(() => import("../screens/groups/EditGroup")),
  Explore: lazy(() => import("../screens/explore/Explore")),
  Group: lazy(() => import("../screens/groups/Group")),
  GroupMembers: lazy(() => import("../screens/groups/GroupMembers")),
  Groups: lazy(() => import("../screens/groups/Groups")),
  Home: lazy(() => import("../screens/home/Home")),
  Inbox: lazy(() => import("../screens/messages/Inbox")),
  LogIn: lazy(() => import("../screens/login/LogIn")),
  Notifications: lazy(() => import("../screens/notifications/Notifications")),
  Moderation: lazy(() => import("../screens/moderation/Moderation")),
  NewGroup: lazy(() => import("../screens/groups/NewGroup")),
  NewTalk: lazy(() => import("../screens/messages/NewTalk")),
  Profile: lazy(() => import("../screens/profile/Profile")),
  Relations: lazy(() => import("../screens/profile/Relations")),
  Requests: lazy(() => import("../screens/profile/Requests")),
  Saved: lazy(() => import("../screens/saved/Saved")),
  Settings: lazy(() => import("../screens/settings/Settings")),
  SignUp: lazy(() => import("../screens/login/SignUp")),
  Tag: lazy(() => import("../screens/explore/Tag")),
  Talk: lazy(() => import("../screens/messages/Talk")),
  Thread: lazy(() => import("../screens/thread/Thread")),
};

/** The page: a client for whoever is logged in, and the screen of the address. */
export function App() {
  const userId = useSession()?.userId ?? null;
  const [here] = useLocation();
  const opened = useMemo(() => openClient(userId), [userId]);
  const before = useRef(opened);
  useEffect(() => {
    const last = before.current;
    before.current = opened;
    if (last !== opened) last.end(); // the session ended, in this tab or in another one
  }, [opened]);
  return (
    <Provider value={opened.client}>
      <Shell isMember={userId !== null}>
        <Boundary place={here}>
          <Suspense fallback={<Waiting />}>{userId === null ? <Open /> : <ForMembers />}</Suspense>
        </Boundary>
      </Shell>
    </Provider>
  );
}

function Open() {
  return (
    <Switch>
      <Route path="/login" component={screens.LogIn} />
      <Route path="/signup" component={screens.SignUp} />
      <Route path="/" component={screens.Explore} />
      {forEverybody}
      <Route>
        <Redirect to="/login" replace />
      </Route>
    </Switch>
  );
}

function ForMembers() {
  return (
    <Switch>
      <Route path="/" component={screens.Home} />
      <Route path="/notifications" component={screens.Notifications} />
      <Route path="/messages" component={screens.Inbox} />
      <Route path="/messages/new" component={screens.NewTalk} />
      <Route path="/messages/new/:login" component={screens.NewTalk} />
      <Route path="/messages/:id" component={screens.Talk} />
      <Route path="/groups/new" component={screens.NewGroup} />
      <Route path="/groups/:id/edit" component={screens.EditGroup} />
      <Route path="/moderation" component={screens.Moderation} />
      <Route path="/favourites" component={screens.Saved} />
      <Route path="/requests" component={screens.Requests} />
      <Route path="/settings/account" component={screens.Account} />
      <Route path="/settings/:kind" component={screens.Aside} />
      <Route path="/settings" component={screens.Settings} />
      <Route path="/login">
        <Redirect to="/" replace />
      </Route>
      <Route path="/signup">
        <Redirect to="/" replace />
      </Route>
      {forEverybody}
      <Route component={Missing} />
    </Switch>
  );
}

const forEverybody = [
  <Route key="explore" path="/explore" component={screens.Explore} />,
  <Route key="groups" path="/groups" component={screens.Groups} />,
  <Route key="group" path="/groups/:id" component={screens.Group} />,
  <Route key="members" path="/groups/:id/members" component={screens.GroupMembers} />,
  <Route key="tag" path="/tags/:name" component={screens.Tag} />,
  <Route key="thread" path="/posts/:id" component={screens.Thread} />,
  <Route key="relations" path={/^\/@(?<login>\w+)\/(?<kind>\w+)$/} component={screens.Relations} />,
  <Route key="profile" path={/^\/@(?<login>\w+)$/} component={screens.Profile} />,
];
