variable_source "users" "file/csv" {
  file              = "users.csv"
  fields            = ["user_id", "name"]
  ignore_first_line = true
  delimiter         = ","
}
variable_source "global" "variables" {
  variables = {
    product = "randInt(1, 3)"
  }
}
call "login" {
  call = "drumfire.shop.v1.Shop.Login"
  tag  = "login"
  metadata = {
    who = "test"
  }
  preprocessor "prepare" {
    mapping = {
      user = "source.users[next]"
      id   = "uuid()"
    }
  }
  payload = <<EOF
{"user": "{{.request.login.preprocessor.user.name}}", "password": "{{.request.login.preprocessor.user.name}}-pw"}
EOF
  postprocessor "assert/response" {
    payload     = ["token"]
    status_code = 200
  }
}
call "add" {
  call = "drumfire.shop.v1.Shop.Add"
  tag  = "add"
  metadata = {
    authorization = "Bearer {{.request.login.postprocessor.token}}"
  }
  preprocessor "prepare" {
    mapping = {
      count = "randInt(1, 3)"
    }
  }
  payload = <<EOF
{"product": {{.source.global.product}}, "count": {{.request.add.preprocessor.count}}}
EOF
}
call "place" {
  call = "drumfire.shop.v1.Shop.Place"
  tag  = "place"
  metadata = {
    authorization = "Bearer {{.request.login.postprocessor.token}}"
  }
  payload = "{\"amount\": {{.request.add.postprocessor.total}}}"
  postprocessor "assert/response" {
    status_code = 200
  }
}
scenario "buy" {
  weight           = 1
  min_waiting_time = 50
  requests         = ["login", "add(3, 5)", "sleep(5)", "place"]
}
